module

public import RESAC.Certificate.Rounding
public import RESAC.Certificate.Span

public section

/-!
# From float64 to the fixed point: the bound that the solvers print

A solver holds state values `v` and computes from them, with rounding, the table `q` of one backup
and the values `image` that the value functional reads off it. Here the errors of the two, the range
of `image - v`, and nothing else, become the bound on `‖q - Q*‖`.

## Main definitions
* `stateBackup R γ E V pen`: the backup seen from the states, `v ↦ V(R + γ·(E v - pen))`.

## Main statements (C48)
* `solver_bound`: the interval of `pyresac.tabular.solvers.certificate`, errors included.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable [DecidableLE K] {n m : Nat} {γ : K}
variable {R pen : Fin (n + 1) → Fin (m + 1) → K}
variable {E : Fin (n + 1) → Fin (m + 1) → (Fin (n + 1) → K) → K}
variable {V : Fin (n + 1) → (Fin (m + 1) → K) → K}

/-- The backup seen from the states, as a table of one action. -/
@[expose] def stateBackup (R : Fin (n + 1) → Fin (m + 1) → K) (γ : K)
    (E : Fin (n + 1) → Fin (m + 1) → (Fin (n + 1) → K) → K)
    (V : Fin (n + 1) → (Fin (m + 1) → K) → K) (pen : Fin (n + 1) → Fin (m + 1) → K)
    (x : Fin (n + 1) → Fin 1 → K) : Fin (n + 1) → Fin 1 → K :=
  fun s _ => V s fun a => R s a + γ * (E s a (fun s' => x s' 0) - pen s a)

omit [DecidableLE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- It is monotone and passes constants through. -/
theorem stateBackup_translate (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    (x : Fin (n + 1) → Fin 1 → K) (c : K) (s : Fin (n + 1)) (i : Fin 1) :
    stateBackup R γ E V pen (fun s i => x s i + c) s i = stateBackup R γ E V pen x s i + γ * c := by
  unfold stateBackup
  rw [← (hV s).translate]
  congr 1; funext a
  rw [(hE s a).translate]
  grind

omit [DecidableLE K] in
/-- So it meets Blackwell's conditions. -/
theorem stateBackup_blackwell (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) : Blackwell (stateBackup R γ E V pen) γ where
  mono x y h s _ := (hV s).mono _ _ fun a => by
    have h₁ := mul_le_mul_left ((hE s a).mono _ _ fun s' => h s' 0) hγ
    grind
  discount x c _ s i := by rw [stateBackup_translate hE hV]; exact le_refl _

/-- **The bound that the solvers print.** `q` is within `eB` of the backup of `v`, `image` within
`eW` of what the value functional reads off that backup, and `lo ≤ image - v ≤ hi`. Then the fixed
point lies between `q + γ/(1-γ)·(lo - eW) - eB` and `q + γ/(1-γ)·(hi + eW) + eB`. C48. -/
theorem solver_bound (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) {Qs q : Fin (n + 1) → Fin (m + 1) → K} {v image : Fin (n + 1) → K}
    {eB eW lo hi : K} (hQs : rev R γ E V pen Qs = Qs)
    (hq : ∀ s a, Within eB (q s a) (R s a + γ * (E s a v - pen s a)))
    (himage : ∀ s, Within eW (image s) (V s fun a => R s a + γ * (E s a v - pen s a)))
    (h : ∀ s, lo ≤ image s - v s ∧ image s - v s ≤ hi) (s : Fin (n + 1)) (a : Fin (m + 1)) :
    q s a + γ / (1 - γ) * (lo - eW) - eB ≤ Qs s a ∧
      Qs s a ≤ q s a + γ / (1 - γ) * (hi + eW) + eB := by
  have hne : 1 - γ ≠ 0 := by clear hq himage h; grind
  have el : (lo - eW) / (1 - γ) = lo - eW + γ * ((lo - eW) / (1 - γ)) := by
    clear hq himage h; grind
  have eu : (hi + eW) / (1 - γ) = hi + eW + γ * ((hi + eW) / (1 - γ)) := by
    clear hq himage h; grind
  have fl : γ / (1 - γ) * (lo - eW) = γ * ((lo - eW) / (1 - γ)) := by clear hq himage h; grind
  have fu : γ / (1 - γ) * (hi + eW) = γ * ((hi + eW) / (1 - γ)) := by clear hq himage h; grind
  rw [fl, fu]
  clear fl fu
  generalize (lo - eW) / (1 - γ) = l at *
  generalize (hi + eW) / (1 - γ) = u at *
  have hB := stateBackup_blackwell (R := R) (pen := pen) hγ hE hV
  -- the optimal state values are fixed by the backup seen from the states
  have hQ : ∀ s a, R s a + γ * (E s a (fun s' => V s' (Qs s')) - pen s a) = Qs s a := fun s a =>
    congrFun (congrFun hQs s) a
  have hx : stateBackup R γ E V pen (fun s _ => V s (Qs s)) = fun s _ => V s (Qs s) := by
    funext s i
    unfold stateBackup
    congr 1; funext a
    exact hQ s a
  have low : ∀ s, v s + l ≤ V s (Qs s) := fun s =>
    comparison_fin (Q₁ := fun s _ => v s + l) hB hγ hγ₁
      (fun s i => by
        have e := stateBackup_translate (R := R) (γ := γ) (pen := pen) hE hV (fun s _ => v s) l s i
        have h₁ := himage s
        have h₂ := (h s).1
        rw [e]
        unfold stateBackup
        unfold Within at h₁
        clear hq himage h hQ hx hB e
        grind)
      (fun s i => by rw [hx]; exact le_refl _) s 0
  have high : ∀ s, V s (Qs s) ≤ v s + u := fun s =>
    comparison_fin (Q₂ := fun s _ => v s + u) hB hγ hγ₁
      (fun s i => by rw [hx]; exact le_refl _)
      (fun s i => by
        have e := stateBackup_translate (R := R) (γ := γ) (pen := pen) hE hV (fun s _ => v s) u s i
        have h₁ := himage s
        have h₂ := (h s).2
        rw [e]
        unfold stateBackup
        unfold Within at h₁
        clear hq himage h hQ hx hB e
        grind) s 0
  have m₁ := (hE s a).mono _ _ low
  have m₂ := (hE s a).mono _ _ high
  rw [(hE s a).translate] at m₁ m₂
  have k₁ := mul_le_mul_left m₁ hγ
  have k₂ := mul_le_mul_left m₂ hγ
  have h₃ := hq s a
  have h₄ := hQ s a
  unfold Within at h₃
  clear hq himage h hQ hx hB low high m₁ m₂ el eu
  constructor <;> grind

end RESAC
