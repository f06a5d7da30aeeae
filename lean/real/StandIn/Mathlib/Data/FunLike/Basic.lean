module

public import Mathlib.Trusted

public section

/-! Types of functions. -/

noncomputable section

universe u v w

class DFunLike (F : Sort u) (α : outParam (Sort v)) (β : outParam (α → Sort w)) where
  coe : F → ∀ a : α, β a
  coe_injective' : ∀ f g, coe f = coe g → f = g
@[expose] abbrev FunLike (F : Sort u) (α : Sort v) (β : Sort w) := DFunLike F α fun _ => β
@[expose, reducible] instance (priority := 100) DFunLike.hasCoeToFun {F : Sort u} {α : Sort v}
    {β : α → Sort w} [DFunLike F α β] : CoeFun F fun _ => ∀ a : α, β a where
  coe := @DFunLike.coe _ _ β _
