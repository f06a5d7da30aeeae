module

public import RESAC.Contraction.Blackwell
public import RESAC.Live.Counterproof

public section

/-!
# Live penalties: the REV backup when the penalty depends on the value

For every monetary expectation `E` and value functional `V` the backup with a *frozen* penalty has
modulus `γ` (`rev_contraction`). If the penalty is a function of `Q` with Lipschitz constant `L`,
the modulus grows to at most `γ·(1 + L)`, and not beyond. So what matters is not whether the penalty
looks at `Q`, but how steeply. The paper says otherwise in Appendix E, summary (i) and (S1).

## Main definitions
* `revLive R γ E V pen`: the REV backup whose penalty is computed from the `Q` being updated.
* `normPen lam`: the penalty `lam·|Q(s,a)|`.

## Main statements
* `revLive_modulus`: a live penalty with Lipschitz constant `L` has modulus at most `γ·(1 + L)`
  (C37); `revLive_contracts`: so it contracts if `L < 1/γ - 1`; `revLive_modulus_not_exact`: the
  bound need not be attained.
* `revLive_norm_exactModulus`, `revLive_norm_contracts_iff`: for `lam·|Q(s,a)|` it is attained on
  every MDP, so the threshold is `λ < 1/γ - 1` (C14).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {S : Type v} {A : Type w}

section Definitions

variable {K : Type u} [Field K] {S : Type v} {A : Type w}

/-- The REV backup with a *live* penalty: `pen` is computed from the `Q` that is being updated. -/
@[expose] def revLive (R : S → A → K) (γ : K) (E : S → A → (S → K) → K) (V : S → (A → K) → K)
    (pen : (S → A → K) → S → A → K) (Q : S → A → K) : S → A → K :=
  rev R γ E V (pen Q) Q

/-- The live norm penalty `lam·|Q(s,a)|`. -/
@[expose] def normPen [LE K] [DecidableLE K] (lam : K) (Q : S → A → K) : S → A → K :=
  fun s a => lam * mag (Q s a)

end Definitions

variable {R : S → A → K} {γ : K} {E : S → A → (S → K) → K} {V : S → (A → K) → K}

/-- **Live penalties.** A penalty with Lipschitz constant `L` in `Q` leaves a modulus of at most
`γ·(1 + L)`. Appendix E, "Necessity of the frozen-parameter design"; C37. -/
theorem revLive_modulus (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    {pen : (S → A → K) → S → A → K} {L : K} (hpen : Modulus pen L) :
    Modulus (revLive R γ E V pen) (γ * (1 + L)) := fun ε Q₁ Q₂ h s a => by
  have hv := (hE s a).within (fun s' => (hV s').within (fun a' => h s' a'))
  have h' := within_backup (R := R s a) hγ hv (hpen ε Q₁ Q₂ h s a)
  have e : γ * (1 + L) * ε = γ * (ε + L * ε) := by grind
  rw [e]
  exact h'

/-- **Freezing is sufficient, not necessary**: for `γ > 0` a live penalty with Lipschitz constant
`L < 1/γ - 1` leaves a contraction. Refutes Appendix E, summary (i), for every such penalty; C14,
C37. -/
theorem revLive_contracts (hγ : 0 < γ) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    {pen : (S → A → K) → S → A → K} {L : K} (hpen : Modulus pen L) (hL : L < 1 / γ - 1) :
    Contracts K (revLive R γ E V pen) :=
  ⟨γ * (1 + L), (live_threshold hγ).2 hL, revLive_modulus (by grind) hE hV hpen⟩

/-- The bound `γ·(1 + L)` need not be attained: the penalty `pen q = q` has Lipschitz constant `1`,
and its backup is constant. C37. -/
theorem revLive_modulus_not_exact (R γ : K) :
    ExactModulus (fun q : K => q) (1 : K) ∧ Modulus (fun q : K => R + γ * (q - q)) (0 : K) := by
  refine ⟨⟨fun ε x y h => ?_, fun c h => ?_⟩, fun ε x y _ => ?_⟩
  · rwa [Semiring.one_mul]
  · exact h.le_of_pair 1 0 (by rw [near_iff]; unfold Within; grind) (fun ε h' => by
      rw [near_iff] at h'; unfold Within at h'; grind)
  · rw [near_iff]; unfold Within; constructor <;> grind

section Norm

variable [DecidableLE K]

/-- The norm penalty has Lipschitz constant `λ`. -/
theorem normPen_modulus {lam : K} (hlam : 0 ≤ lam) :
    Modulus (normPen (S := S) (A := A) lam) lam :=
  fun _ _ _ h s a => (Within.mag (h s a)).mul_left hlam

/-- The norm penalty of the constant `-1` is the norm penalty of `0`, plus `λ`. -/
theorem normPen_neg_one (lam : K) : (normPen lam (fun (_ : S) (_ : A) => (0 : K) + -1)) =
    fun s a => normPen lam (fun _ _ => 0) s a + lam := by
  have m₁ : mag (0 + -1 : K) = 1 := by unfold mag; grind
  funext s a
  unfold normPen
  rw [mag_zero, m₁]
  grind

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] [DecidableLE K] in
/-- Constants added to the value and to the penalty pass through the backup as `γ·(c - d)`. -/
theorem rev_add_const (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    (pen Q : S → A → K) (c d : K) :
    rev R γ E V (fun s a => pen s a + d) (fun s a => Q s a + c) =
      fun s a => rev R γ E V pen Q s a + γ * (c - d) := by
  funext s a
  rw [rev_discount hE hV]
  unfold rev
  grind

/-- On every MDP the norm penalty `λ·|Q(s,a)|` has exact modulus `γ·(1 + λ)`. Appendix E,
"Necessity of the frozen-parameter design"; C14. -/
theorem revLive_norm_exactModulus [Nonempty S] [Nonempty A] (hγ : 0 ≤ γ)
    (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s)) {lam : K} (hlam : 0 ≤ lam) :
    ExactModulus (revLive R γ E V (normPen lam)) (γ * (1 + lam)) where
  holds := revLive_modulus hγ hE hV (normPen_modulus hlam)
  least c' h := by
    refine h.le_of_pair (fun _ _ => 0) (fun _ _ => 0 + -1) (fun s a => ?_) (fun ε h' => ?_)
    · rw [near_iff]; unfold Within; grind
    · have h' := h' (Classical.choice inferInstance) (Classical.choice inferInstance)
      rw [near_iff] at h'
      unfold revLive at h'
      rw [normPen_neg_one, rev_add_const hE hV] at h'
      unfold Within at h'
      grind

/-- So on every MDP the backup with the live norm penalty contracts iff `λ < 1/γ - 1`. C14. -/
theorem revLive_norm_contracts_iff [Nonempty S] [Nonempty A] (hγ : 0 < γ)
    (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s)) {lam : K} (hlam : 0 ≤ lam) :
    Contracts K (revLive R γ E V (normPen lam)) ↔ lam < 1 / γ - 1 := by
  rw [(revLive_norm_exactModulus (R := R) (by grind) hE hV hlam).contracts_iff, live_threshold hγ]

end Norm

end RESAC
