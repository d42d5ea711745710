"""The first lines of the Coq file of a proof: the rules of signs, each proved once."""

from __future__ import annotations

__all__ = ["EXPONENTIALS", "LOGARITHMS", "ROOTS", "SIGNS"]

SIGNS = r"""
From Coq Require Import Reals Lra Bool ZArith Arith List.
Import ListNotations.
Open Scope R_scope.

(* One of these cases holds. *)
Definition one_of (cases : list Prop) : Prop := exists i : nat, nth i cases False.

(* The sign of x is among those chosen of: negative, zero, positive. *)
Definition among (n z p : bool) (x : R) : Prop :=
  (x < 0 -> n = true) /\ (x = 0 -> z = true) /\ (0 < x -> p = true).

Ltac known := unfold among; intros; repeat split; intros; reflexivity || lra.
Lemma negative x : x < 0 -> among true false false x. Proof. known. Qed.
Lemma vanishing x : x = 0 -> among false true false x. Proof. known. Qed.
Lemma above x : 0 < x -> among false false true x. Proof. known. Qed.
Lemma not_above x : x <= 0 -> among true true false x. Proof. known. Qed.
Lemma not_negative x : 0 <= x -> among false true true x. Proof. known. Qed.
Lemma not_vanishing x : x <> 0 -> among true false true x. Proof. known. Qed.
Lemma any x : among true true true x. Proof. known. Qed.
Lemma ratio (a : Z) (b : positive) :
  among (a <? 0)%Z (a =? 0)%Z (0 <? a)%Z (IZR a / IZR (Zpos b)).
Proof.
  assert (0 < / IZR (Zpos b)) by (apply Rinv_0_lt_compat; now apply IZR_lt).
  unfold Rdiv. repeat split; intros h.
  - apply Z.ltb_lt, lt_IZR. nra.
  - apply Z.eqb_eq, eq_IZR. nra.
  - apply Z.ltb_lt, lt_IZR. nra.
Qed.
(* Of integers nothing is computed, as they may be large. *)
Lemma natural (a : positive) : among false false true (IZR (Zpos a)).
Proof. apply above. now apply IZR_lt. Qed.
Lemma minus_natural (a : positive) : among true false false (IZR (Zneg a)).
Proof. apply negative. now apply IZR_lt. Qed.

Section Rules.
Context {n z p n' z' p' : bool} {x y : R}.
Ltac cases := repeat match goal with h : among _ _ _ _ |- _ => destruct h as (? & ? & ?) end.
Ltac follows := rewrite ?orb_true_iff, ?andb_true_iff; auto 6.
Lemma both : among n z p x -> among n' z' p' x -> among (n && n') (z && z') (p && p') x.
Proof. intros; cases; repeat split; intros e; follows. Qed.
Lemma plus : among n z p x -> among n' z' p' y ->
  among (n || n') (z && z' || n && p' || p && n') (p || p') (x + y).
Proof.
  intros; cases; destruct (total_order_T x 0) as [[h|h]|h], (total_order_T y 0) as [[k|k]|k];
    repeat split; intros e; try (follows; fail); exfalso; lra.
Qed.
Lemma times : among n z p x -> among n' z' p' y ->
  among (n && p' || p && n') (z || z') (n && n' || p && p') (x * y).
Proof.
  intros; cases; destruct (total_order_T x 0) as [[h|h]|h], (total_order_T y 0) as [[k|k]|k];
    repeat split; intros e; try (follows; fail); exfalso; nra.
Qed.
Lemma quotient : among n z p (x * y) -> among n' z' p' x ->
  among (n' && p || z' && z || p' && n) z (n' && n || z' && z || p' && p) y.
Proof.
  intros; cases; destruct (total_order_T x 0) as [[h|h]|h]; repeat split; intros e;
    try (assert (x * y < 0) by nra); try (assert (0 < x * y) by nra);
    try (assert (x * y = 0) by nra); follows.
Qed.
Lemma same : among n z p x -> y = x -> among n z p y.
Proof. now intros h ->. Qed.
Lemma odd (k : nat) : Nat.odd k = true -> among n z p x -> among n z p (x ^ k).
Proof.
  intros e (a & b & c). apply Nat.odd_spec in e. destruct e as [m ->].
  rewrite Nat.add_1_r. simpl.
  destruct (Req_dec x 0) as [->|h].
  { rewrite Rmult_0_l. repeat split; auto. }
  assert (0 < x ^ (2 * m)) by (rewrite pow_Rsqr; apply pow_lt, Rlt_0_sqr, h).
  repeat split; intros k; [apply a | apply b | apply c]; simpl in *; nra.
Qed.
Lemma even (k : nat) : Nat.even k && (0 <? k)%nat = true -> among n z p x ->
  among false z (n || p) (x ^ k).
Proof.
  intros e (a & b & c). apply andb_true_iff in e. destruct e as [e positive].
  apply Nat.even_spec in e. destruct e as [m ->]. apply Nat.ltb_lt in positive.
  rewrite pow_Rsqr.
  destruct (total_order_T x 0) as [[h|h]|h].
  2: { subst. rewrite Rsqr_0, pow_ne_zero by (intro; subst; inversion positive).
       repeat split; intros; auto; lra. }
  all: assert (0 < Rsqr x ^ m) by (apply pow_lt, Rlt_0_sqr; lra); repeat split; intros; try lra;
    rewrite orb_true_iff; auto.
Qed.
End Rules.

Lemma opposite {n z p x} : among n z p x -> among p z n (- x).
Proof. intros (a & b & c). repeat split; intros h; [apply c | apply b | apply a]; lra. Qed.
Lemma none x : among false false false x -> False.
Proof. intros (a & b & c). destruct (total_order_T x 0) as [[h|h]|h];
  [discriminate (a h) | discriminate (b h) | discriminate (c h)]. Qed.

Lemma nonzero n p x : among n false p x -> x <> 0.
Proof. intros (a & b & c) h. discriminate (b h). Qed.
Lemma nonnegative z p x : among false z p x -> 0 <= x.
Proof. intros (a & b & c). destruct (Rlt_or_le x 0) as [h|h]; [discriminate (a h) | exact h]. Qed.
Lemma strictly p x : among false false p x -> 0 < x.
Proof. intros h. apply nonzero in h as k. apply nonnegative in h. lra. Qed.
Lemma exactly z x : among false z false x -> x = 0.
Proof. intros h. apply nonnegative in h as k. destruct h as (a & b & c).
  destruct (Rle_lt_or_eq_dec _ _ k) as [e|e]; [discriminate (c e) | now rewrite e]. Qed.
Lemma below n x : among n false false x -> x < 0.
Proof. intros h. apply opposite, strictly in h. lra. Qed.
Lemma not_positive n z x : among n z false x -> x <= 0.
Proof. intros h. apply opposite, nonnegative in h. lra. Qed.
Lemma base k z x : among false z false (x ^ k) -> among false true false x.
Proof.
  intros h. apply exactly in h. apply vanishing. destruct (Req_dec x 0) as [e|e]; [exact e|].
  now destruct (pow_nonzero x k e).
Qed.
Lemma at_most z p l r : among false z p (r - l) -> l <= r.
Proof. intros h. apply nonnegative in h. lra. Qed.
Lemma less p l r : among false false p (r - l) -> l < r.
Proof. intros h. apply strictly in h. lra. Qed.
Lemma equal z l r : among false z false (r - l) -> l = r.
Proof. intros h. apply exactly in h. lra. Qed.
Lemma over_one x : x = x / 1. Proof. field. Qed.

Lemma sides n z p n' p' l r a b c d : l = a / b -> r = c / d ->
  among n' false p' (b * d) -> among n z p (c * b - a * d) ->
  among (n' && p || p' && n) z (n' && n || p' && p) (r - l).
Proof.
  intros -> -> dens cross. apply nonzero in dens as h.
  replace (c * b - a * d) with (b * d * (c / d - a / b)) in cross
    by (field; split; intro; apply h; subst; ring).
  apply (quotient cross) in dens. now rewrite !andb_false_l, !orb_false_r in dens.
Qed.
Lemma solved x a b : b <> 0 -> b * x - a = 0 -> x = a / b.
Proof. intros h e. replace a with (b * x) by lra. now field. Qed.
Lemma unsolved x a b : b <> 0 -> x = a / b -> b * x - a = 0.
Proof. intros h ->. now field. Qed.
"""

ROOTS = r"""
(* Wherever f is not negative, r is its root of degree k. *)
Definition root (k : nat) (f r : R) : Prop := 0 <= f -> 0 <= r /\ r ^ k = f.
Lemma there_is_a_root k f : (0 < k)%nat -> exists r, root k f r.
Proof.
  intros h. destruct (total_order_T f 0) as [[e|e]|e].
  - exists 0. intro. lra.
  - exists 0. intros _. split; [lra | now rewrite e, pow_ne_zero by (intro; subst; inversion h)].
  - exists (Rpower f (/ INR k)). intros _. unfold Rpower. split; [left; apply exp_pos|].
    fold (Rpower f (/ INR k)). rewrite <- Rpower_pow by apply exp_pos.
    rewrite Rpower_mult, Rinv_l by (apply not_0_INR; intro; subst; inversion h).
    now apply Rpower_1.
Qed.
Lemma root_of k f r z p : root k f r -> among false z p f -> among false true false (r ^ k - f).
Proof. intros h e. apply vanishing. destruct (h (nonnegative _ _ _ e)). lra. Qed.
Lemma sign_of_root k f r z p : root (S k) f r -> among false z p f -> among false z p r.
Proof.
  intros h e. destruct (h (nonnegative _ _ _ e)) as [low value]. destruct e as (_ & b & c).
  repeat split; intros k'; [lra | apply b | apply c]; rewrite <- value.
  - rewrite k'. apply pow_ne_zero. discriminate.
  - now apply pow_lt.
Qed.
Lemma between k f r a b : root k f r -> 0 <= f -> 0 <= b -> a ^ k < f -> f < b ^ k -> a <= r <= b.
Proof.
  intros h g e l u. destruct (h g) as [low value]. rewrite <- value in l, u.
  split; [destruct (Rle_or_lt a r) as [c|c] | destruct (Rle_or_lt r b) as [c|c]]; try assumption.
  - pose proof (pow_incr r a k (conj low (Rlt_le _ _ c))). lra.
  - pose proof (pow_incr b r k (conj e (Rlt_le _ _ c))). lra.
Qed.
Lemma rooted f r a b z p u v s t : root 2 f r -> among false s t f -> among false u v a ->
  among false z p (a * a - b * b * f) -> among false z true (a + b * r).
Proof.
  intros h g e d. destruct (h (nonnegative _ _ _ g)) as [low value].
  apply nonnegative in e. apply nonnegative in d as d'. destruct d as (_ & d & _).
  replace (a * a - b * b * f) with ((a + b * r) * (a - b * r)) in * by (rewrite <- value; ring).
  repeat split; intros k; try reflexivity; [exfalso; nra | apply d; rewrite k; ring].
Qed.
Lemma rooted' f r a b z p u v s t : root 2 f r -> among false s t f -> among false u v b ->
  among false z p (b * b * f - a * a) -> among false z true (a + b * r).
Proof.
  intros h g e d. destruct (h (nonnegative _ _ _ g)) as [low value].
  apply nonnegative in e. apply nonnegative in d as d'. destruct d as (_ & d & _).
  assert (0 <= b * r) by now apply Rmult_le_pos.
  replace (b * b * f - a * a) with ((a + b * r) * (b * r - a)) in * by (rewrite <- value; ring).
  repeat split; intros k; try reflexivity; [exfalso; nra | apply d; rewrite k; ring].
Qed.
"""

LOGARITHMS = r"""
(* Wherever f is positive, g is its logarithm. *)
Definition logarithm (f g : R) : Prop := 0 < f -> g = ln f.
Lemma there_is_a_logarithm f : exists g, logarithm f g.
Proof. now exists (ln f). Qed.
Lemma ln_below x : 0 < x -> ln x <= x - 1.
Proof. intros h. pose proof (exp_ineq1_le (ln x)) as e. rewrite exp_ln in e; lra. Qed.
Lemma from_above (k : nat) f g a b z p u v w : (0 < k)%nat ->
  logarithm f g -> among false false w f -> among false u v (- b) ->
  among false z p (IZR (Z.of_nat k) * a + b * (f ^ k - 1)) -> among false z true (a + b * g).
Proof.
  intros k_positive h g_positive e d. apply strictly in g_positive. rewrite (h g_positive).
  apply nonnegative in e. rewrite <- INR_IZR_INZ in d.
  pose proof (ln_below (f ^ k) (pow_lt _ k g_positive)) as l.
  rewrite ln_pow in l by assumption. apply lt_0_INR in k_positive.
  assert (INR k * a + b * (f ^ k - 1) <= INR k * (a + b * ln f)) by nra.
  apply nonnegative in d as d'. destruct d as (_ & d & _).
  repeat split; intros q; try reflexivity; [exfalso; nra | apply d; nra].
Qed.
Lemma from_below (k : nat) f g a b z p u v w : (0 < k)%nat ->
  logarithm f g -> among false false w f -> among false u v b ->
  among false z p (IZR (Z.of_nat k) * f ^ k * a + b * (f ^ k - 1)) ->
  among false z true (a + b * g).
Proof.
  intros k_positive h g_positive e d. apply strictly in g_positive. rewrite (h g_positive).
  apply nonnegative in e. rewrite <- INR_IZR_INZ in d.
  assert (q := pow_lt _ k g_positive).
  pose proof (ln_below (/ f ^ k) (Rinv_0_lt_compat _ q)) as l.
  rewrite ln_Rinv, ln_pow in l by assumption. apply lt_0_INR in k_positive.
  assert (inverse : f ^ k * / f ^ k = 1) by (field; lra).
  assert (f ^ k - 1 <= INR k * f ^ k * ln f) by nra.
  assert (b * (f ^ k - 1) <= b * (INR k * f ^ k * ln f)) by nra.
  assert (same : INR k * f ^ k * (a + b * ln f) =
    INR k * f ^ k * a + b * (INR k * f ^ k * ln f)) by ring.
  assert (0 < INR k * f ^ k) by nra.
  apply nonnegative in d as d'. destruct d as (_ & d & _).
  repeat split; intros t; try reflexivity; [exfalso; nra | apply d; nra].
Qed.
Lemma sign_of_logarithm f g n z p w : logarithm f g -> among false false w f ->
  among n z p (f - 1) -> among n z p g.
Proof.
  intros h e (a & b & c). apply strictly in e. rewrite (h e).
  repeat split; intros k; [apply a | apply b | apply c].
  - destruct (Rlt_or_le f 1) as [l|[l|l]]; [lra | |].
    + apply ln_increasing in l; rewrite ?ln_1 in l; lra.
    + rewrite <- l, ln_1 in k. lra.
  - destruct (total_order_T f 1) as [[l|l]|l]; [ | lra | ];
      apply ln_increasing in l; rewrite ?ln_1 in l; lra.
  - destruct (Rlt_or_le 1 f) as [l|[l|l]]; [lra | |].
    + apply ln_increasing in l; rewrite ?ln_1 in l; lra.
    + rewrite l, ln_1 in k. lra.
Qed.
"""

EXPONENTIALS = r"""
Lemma sign_of_exponential f g : g = exp f -> among false false true g.
Proof. intros ->. apply above, exp_pos. Qed.
Lemma above_tangent (k : positive) f g : g = exp (f / IZR (Zpos k)) ->
  among false true true (IZR (Zpos k) * (g - 1) - f).
Proof.
  intros ->. apply not_negative. assert (0 < IZR (Zpos k)) by now apply IZR_lt.
  pose proof (exp_ineq1_le (f / IZR (Zpos k))).
  assert (f = IZR (Zpos k) * (f / IZR (Zpos k))) by (field; lra). nra.
Qed.
"""
