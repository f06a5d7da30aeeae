module

public import RESAC.Contraction.FixedPoint

public section

/-!
# Learning from samples, path by path

Q-learning moves one entry at a time towards a noisy backup. What this file proves is the part that
has nothing to do with probability: on every path on which the *averaged* noise tends to zero and no
entry's steps die out, the iterates track `Q*`. That the averaged noise does tend to zero with
probability one is martingale convergence, which is not proved here.

## Main definitions
* `StochasticPath T α noise x`: `x (t+1) = (1 - α t)·x t + α t·(T (x t) + noise t)`, entry by entry; an
  entry that is not visited has step `0`.
* `averagedNoise α noise`: the same recursion driven by the noise alone.
* `leftover α N k`: the part of the start that `k` steps from time `N` on leave, `∏ (1 - α)`.

## Main statements (C50)
* `stochastic_tracks`: for every `ω, δ > 0` the iterates are in the end within
  `γᵏ·D + (γω + δ)/(1 - γ) + ω` of `Q*`, for every `k`.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

section Definitions

variable {K : Type u} [Field K] {S : Type v} {A : Type w}

/-- The noise, averaged with the same steps, from zero. -/
@[expose] def averagedNoise (α noise : Nat → S → A → K) : Nat → S → A → K
  | 0 => fun _ _ => 0
  | t + 1 => fun s a => (1 - α t s a) * averagedNoise α noise t s a + α t s a * noise t s a

/-- What `k` steps from time `N` on leave of a start. -/
@[expose] def leftover (α : Nat → K) (N : Nat) : Nat → K
  | 0 => 1
  | k + 1 => (1 - α (N + k)) * leftover α N k

/-- Asynchronous updates towards a noisy backup, with steps in `[0, 1]`. -/
structure StochasticPath [LE K] (T : (S → A → K) → S → A → K) (α noise x : Nat → S → A → K) :
    Prop where
  /-- Steps are non-negative; an entry that is not visited has step zero. -/
  nonneg : ∀ t s a, 0 ≤ α t s a
  /-- Steps are at most one. -/
  le_one : ∀ t s a, α t s a ≤ 1
  /-- The update. -/
  step : ∀ t s a, x (t + 1) s a = (1 - α t s a) * x t s a +
    α t s a * (T (x t) s a + noise t s a)

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-! ## Eventually -/

/-- Finitely many events that each happen from some time on all happen from some time on. -/
theorem eventually_all : ∀ {n : Nat} {P : Fin n → Nat → Prop},
    (∀ i, ∃ N, ∀ t, N ≤ t → P i t) → ∃ N, ∀ i t, N ≤ t → P i t
  | 0, _, _ => ⟨0, fun i => i.elim0⟩
  | n + 1, P, h => by
    obtain ⟨N₀, h₀⟩ := h 0
    obtain ⟨N₁, h₁⟩ := eventually_all fun i : Fin n => h i.succ
    refine ⟨N₀ + N₁, fun i => ?_⟩
    exact Fin.cases (fun t ht => h₀ t (by omega)) (fun i t ht => h₁ i t (by omega)) i

/-! ## One entry -/

/-- Leftovers stay in `[0, 1]`. -/
theorem leftover_mem {α : Nat → K} (h₀ : ∀ t, 0 ≤ α t) (h₁ : ∀ t, α t ≤ 1) (N : Nat) :
    ∀ k, 0 ≤ leftover α N k ∧ leftover α N k ≤ 1
  | 0 => by
    have := OrderedRing.zero_lt_one (R := K)
    rw [leftover]
    exact ⟨by grind, le_refl _⟩
  | k + 1 => by
    obtain ⟨a, b⟩ := leftover_mem h₀ h₁ N k
    have h₂ := h₀ (N + k)
    have h₃ := h₁ (N + k)
    have h₄ := mul_nonneg (show 0 ≤ 1 - α (N + k) by grind) a
    have h₅ := mul_nonneg h₂ a
    rw [leftover]
    exact ⟨h₄, by grind⟩

/-- They fall. -/
theorem leftover_le {α : Nat → K} (h₀ : ∀ t, 0 ≤ α t) (h₁ : ∀ t, α t ≤ 1) (N k : Nat) :
    ∀ d, leftover α N (k + d) ≤ leftover α N k
  | 0 => le_refl _
  | d + 1 => by
    have ih := leftover_le h₀ h₁ N k d
    have h₅ := mul_nonneg (h₀ (N + (k + d))) (leftover_mem h₀ h₁ N (k + d)).1
    rw [← Nat.add_assoc, leftover]
    grind

/-- An averaged sequence with targets of at most `c` from time `N` on is at most
`c + leftover·(D - c)`. -/
theorem averaged_le {α y z : Nat → K} (h₀ : ∀ t, 0 ≤ α t) (h₁ : ∀ t, α t ≤ 1) {c D : K} {N : Nat}
    (hy : ∀ t, N ≤ t → y (t + 1) = (1 - α t) * y t + α t * z t) (hz : ∀ t, N ≤ t → z t ≤ c)
    (hD : y N ≤ D) : ∀ k, y (N + k) ≤ c + leftover α N k * (D - c)
  | 0 => by rw [Nat.add_zero, leftover]; grind
  | k + 1 => by
    have ih := averaged_le h₀ h₁ hy hz hD k
    have h₂ := hy (N + k) (by omega)
    have h₃ := mul_le_mul_left (hz (N + k) (by omega)) (h₀ (N + k))
    have h₄ := mul_le_mul_left ih (show 0 ≤ 1 - α (N + k) by have := h₁ (N + k); grind)
    rw [← Nat.add_assoc, h₂, leftover]
    grind

/-! ## All entries -/

variable [DecidableLE K] {n m : Nat} {γ : K}
variable {T : (Fin (n + 1) → Fin (m + 1) → K) → Fin (n + 1) → Fin (m + 1) → K}
variable {α noise x : Nat → Fin (n + 1) → Fin (m + 1) → K}
variable {Qs : Fin (n + 1) → Fin (m + 1) → K}

/-- The iterates without their averaged noise. -/
@[expose] def denoised (α noise x : Nat → Fin (n + 1) → Fin (m + 1) → K) (t : Nat) :
    Fin (n + 1) → Fin (m + 1) → K :=
  fun s a => x t s a - averagedNoise α noise t s a

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] [DecidableLE K] in
/-- They are averages of exact backups of the noisy iterates. -/
theorem denoised_step (h : StochasticPath T α noise x) (t : Nat) (s : Fin (n + 1))
    (a : Fin (m + 1)) : denoised α noise x (t + 1) s a =
      (1 - α t s a) * denoised α noise x t s a + α t s a * T (x t) s a := by
  unfold denoised
  rw [h.step, averagedNoise]
  grind

omit [DecidableLE K] in
/-- Within `D` of `Q*`, they stay there, if the averaged noise stays within `ω` and
`γ·(D + ω) ≤ D`. -/
theorem denoised_stays (hT : Modulus T γ) (h : StochasticPath T α noise x) (hQs : T Qs = Qs)
    {ω D : K} {N : Nat}
    (hω : ∀ t, N ≤ t → near ω (averagedNoise α noise t) fun _ _ => 0) (hD : γ * (D + ω) ≤ D)
    (h₀ : near D (denoised α noise x N) Qs) : ∀ k, near D (denoised α noise x (N + k)) Qs
  | 0 => h₀
  | k + 1 => fun s a => by
    have ih := denoised_stays hT h hQs hω hD h₀ k
    have hx : near (D + ω) (x (N + k)) Qs := fun s a => by
      have h₁ := ih s a
      have h₂ := hω (N + k) (by omega) s a
      rw [near_iff] at *
      unfold denoised at h₁
      unfold Within at *
      grind
    have h₁ := hT _ _ _ hx s a
    rw [hQs] at h₁
    have h₂ := (near_mono hD h₁ : near D (T (x (N + k)) s a) (Qs s a))
    have h₃ := ih s a
    rw [near_iff] at h₂ h₃ ⊢
    have a₀ := h.nonneg (N + k) s a
    have a₁ := h.le_one (N + k) s a
    have b := (h₃.mul_left (show 0 ≤ 1 - α (N + k) s a by grind)).add (h₂.mul_left a₀)
    rw [← Nat.add_assoc, denoised_step h]
    unfold Within at b ⊢
    clear h₁ h₂ h₃ hx ih hω hD h₀
    grind

omit [DecidableLE K] in
/-- **One stage**: from within `D` to within `γ·(D + ω) + δ`, for every `δ > 0`. -/
theorem denoised_shrinks (hγ : 0 ≤ γ) (hT : Modulus T γ) (h : StochasticPath T α noise x)
    (hQs : T Qs = Qs)
    (steps : ∀ s a N (δ : K), 0 < δ → ∃ k, leftover (fun t => α t s a) N k ≤ δ)
    {ω D δ : K} {N : Nat} (hω₀ : 0 ≤ ω) (hD₀ : 0 ≤ D) (hδ : 0 < δ)
    (hω : ∀ t, N ≤ t → near ω (averagedNoise α noise t) fun _ _ => 0)
    (h₀ : ∀ t, N ≤ t → near D (denoised α noise x t) Qs) :
    ∃ M, N ≤ M ∧ ∀ t, M ≤ t → near (γ * (D + ω) + δ) (denoised α noise x t) Qs := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  have hx : ∀ t, N ≤ t → near (γ * (D + ω)) (T (x t)) Qs := fun t ht => by
    have hx : near (D + ω) (x t) Qs := fun s a => by
      have h₁ := h₀ t ht s a
      have h₂ := hω t ht s a
      rw [near_iff] at *
      unfold denoised at h₁
      unfold Within at *
      grind
    have h₁ := hT _ _ _ hx
    rwa [hQs] at h₁
  have one : ∀ s a, ∃ M, ∀ t, M ≤ t → N ≤ t →
      Within (γ * (D + ω) + δ) (denoised α noise x t s a) (Qs s a) := fun s a => by
    obtain ⟨k, hk⟩ := steps s a N (δ / (D + 1)) (by
      have hp := inv_pos (show 0 < D + 1 by grind)
      have := OrderedRing.mul_pos hδ hp
      have e : δ / (D + 1) = δ * (D + 1)⁻¹ := by clear this hx; grind
      rw [e]; exact this)
    refine ⟨N + k, fun t ht _ => ?_⟩
    obtain ⟨d, rfl⟩ : ∃ d, t = N + (k + d) := ⟨t - (N + k), by omega⟩
    have a₀ : ∀ t, 0 ≤ α t s a := fun t => h.nonneg t s a
    have a₁ : ∀ t, α t s a ≤ 1 := fun t => h.le_one t s a
    have hs := h₀ N (Nat.le_refl _) s a
    rw [near_iff] at hs
    have up := averaged_le (y := fun t => denoised α noise x t s a - Qs s a)
      (z := fun t => T (x t) s a - Qs s a) (c := γ * (D + ω)) (D := D) (N := N) a₀ a₁
      (fun t ht => by dsimp only; rw [denoised_step h]; grind)
      (fun t ht => by
        have := hx t ht s a
        rw [near_iff] at this; unfold Within at this; dsimp only; grind)
      (by unfold Within at hs; dsimp only; grind) (k + d)
    have down := averaged_le (y := fun t => Qs s a - denoised α noise x t s a)
      (z := fun t => Qs s a - T (x t) s a) (c := γ * (D + ω)) (D := D) (N := N) a₀ a₁
      (fun t ht => by dsimp only; rw [denoised_step h]; grind)
      (fun t ht => by
        have := hx t ht s a
        rw [near_iff] at this; unfold Within at this; dsimp only; grind)
      (by unfold Within at hs; dsimp only; grind) (k + d)
    have l₀ := (leftover_mem a₀ a₁ N (k + d)).1
    have l₁ := le_trans (leftover_le a₀ a₁ N k d) hk
    rw [le_div_iff (show 0 < D + 1 by grind)] at l₁
    have g := mul_nonneg hγ (show 0 ≤ D + ω by grind)
    have l₂ := mul_nonneg l₀ g
    generalize leftover (fun t => α t s a) N (k + d) = L at *
    generalize denoised α noise x (N + (k + d)) s a = yy at *
    generalize γ * (D + ω) = c at *
    unfold Within
    clear hx hω h₀ hs hk steps hT
    constructor <;> grind
  obtain ⟨M, hM⟩ := eventually_all (P := fun s t => ∀ a, N ≤ t →
      Within (γ * (D + ω) + δ) (denoised α noise x t s a) (Qs s a)) fun s => by
    obtain ⟨M, hM⟩ := eventually_all (P := fun a t => N ≤ t →
      Within (γ * (D + ω) + δ) (denoised α noise x t s a) (Qs s a)) (one s)
    exact ⟨M, fun t ht a hN => hM a t ht hN⟩
  exact ⟨N + M, by omega, fun t ht s a => hM s t (by omega) a (by omega)⟩

/-- **Learning from samples tracks `Q*`, path by path.** `T` is any γ-contraction, so every frozen
monetary backup. If the averaged noise tends to zero and every entry's steps use up every start, then
for every `ω, δ > 0` there is a `D` such that for every number `k` of stages the iterates are, from
some time on, within `γᵏ·D + (γω + δ)/(1 - γ) + ω` of `Q*`. (In an Archimedean field: they converge.)
C50. -/
theorem stochastic_tracks (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hT : Modulus T γ)
    (h : StochasticPath T α noise x) (hQs : T Qs = Qs)
    (steps : ∀ s a N (δ : K), 0 < δ → ∃ k, leftover (fun t => α t s a) N k ≤ δ)
    (vanish : ∀ ω : K, 0 < ω → ∃ N, ∀ t, N ≤ t → near ω (averagedNoise α noise t) fun _ _ => 0)
    {ω δ : K} (hω : 0 < ω) (hδ : 0 < δ) :
    ∃ D : K, ∀ k : Nat, ∃ N, ∀ t, N ≤ t →
      near (γ ^ k * D + (γ * ω + δ) / (1 - γ) + ω) (x t) Qs := by
  obtain ⟨N, hN⟩ := vanish ω hω
  obtain ⟨d, hd, -⟩ := hasDist_fin₂ (denoised α noise x N) Qs
  have hd₀ : 0 ≤ d := (hd 0 0 : Within _ _ _).nonneg
  have hpos : 0 < 1 - γ := by clear hT; grind
  have hne : 1 - γ ≠ 0 := by clear hT; grind
  let b := (γ * ω + δ) / (1 - γ)
  have hb₀ : 0 ≤ b := div_nonneg (by have := mul_nonneg hγ (show 0 ≤ ω by grind); grind) hpos
  have hb : b * (1 - γ) = γ * ω + δ := by
    show (γ * ω + δ) / (1 - γ) * (1 - γ) = _
    clear hT hd hN; grind
  have stage : ∀ k : Nat, ∃ M, N ≤ M ∧ ∀ t, M ≤ t →
      near (γ ^ k * d + b) (denoised α noise x t) Qs := fun k => by
    induction k with
    | zero =>
      refine ⟨N, Nat.le_refl _, fun t ht => ?_⟩
      obtain ⟨j, rfl⟩ := Nat.exists_eq_add_of_le ht
      have hD : γ * (γ ^ 0 * d + b + ω) ≤ γ ^ 0 * d + b := by
        have := mul_le_mul_right (show γ ≤ 1 by clear hT; grind) hd₀
        rw [Semiring.pow_zero]
        clear hT hd hN
        grind
      exact denoised_stays hT h hQs hN hD
        (near_mono (by rw [Semiring.pow_zero]; clear hT hd hN; grind) hd) j
    | succ k ih =>
      obtain ⟨M, hNM, hM⟩ := ih
      have hp := mul_nonneg (pow_nonneg hγ k) hd₀
      obtain ⟨M', hMM', h'⟩ := denoised_shrinks hγ hT h hQs steps (ω := ω) (D := γ ^ k * d + b)
        (δ := δ) (N := M) (by grind) (by grind) hδ (fun t ht => hN t (by omega)) hM
      refine ⟨M', by omega, fun t ht => near_mono ?_ (h' t ht)⟩
      rw [Semiring.pow_succ]
      clear hT hd hN h' hM
      grind
  refine ⟨d, fun k => ?_⟩
  obtain ⟨M, hNM, hM⟩ := stage k
  refine ⟨M, fun t ht s a => ?_⟩
  have h₁ := hM t ht s a
  have h₂ := hN t (by omega) s a
  rw [near_iff] at *
  unfold denoised at h₁
  show Within (γ ^ k * d + b + ω) _ _
  unfold Within at *
  clear hM hT hd hN
  grind

end RESAC
