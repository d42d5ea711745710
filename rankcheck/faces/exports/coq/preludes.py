"""The first lines of exported Coq files: what is imported, and the tactics of their proofs."""

from __future__ import annotations

_Q = """\
From Coq Require Import QArith List.
Import ListNotations.
Open Scope Q_scope.

(* A comparison of rational numbers is decided by computing both. *)
Ltac computed := vm_compute; first [reflexivity | discriminate | intro; discriminate].
"""

_R = """\
From Coq Require Import Reals Lra List.
From Interval Require Import Tactic.
From Interval.Float Require Import Specific_ops Specific_stdz.
(* Enclosures are computed with the integers of Coq's library, and with no primitive ones. *)
Module Floats := SpecificFloat StdZRadix2.
Module Enclosures := IntervalTactic Floats.
Import Enclosures.
Import ListNotations.
Open Scope R_scope.

Lemma exact_root (x y : R) : 0 <= y -> y * y = x -> sqrt x = y.
Proof. intros nonnegative square. rewrite <- square. now apply sqrt_square. Qed.

Lemma product_of_root (x y : R) : 0 <= x -> x = y -> sqrt x * sqrt x = y.
Proof. intros nonnegative same. now rewrite sqrt_sqrt. Qed.

Lemma square_of_root (x y : R) : 0 <= x -> x = y -> sqrt x ^ 2 = y.
Proof. intros nonnegative same. rewrite <- Rsqr_pow2. unfold Rsqr. now apply product_of_root. Qed.
"""

_RANK = """\
(* M, of n columns, has rank r: M = C F with r rows in F, and X M Y is the identity of order r. *)
Definition dot (a b : list KIND) : KIND :=
  fold_right PLUS 0 (map (fun p => fst p * snd p) (combine a b)).
Definition column (B : list (list KIND)) (j : nat) : list KIND := map (fun row => nth j row 0) B.
Definition product (A B : list (list KIND)) (n : nat) : list (list KIND) :=
  map (fun row => map (fun j => dot row (column B j)) (seq 0 n)) A.
Definition identity (r : nat) : list (list KIND) :=
  map (fun i => map (fun j => if Nat.eqb i j then 1 else 0) (seq 0 r)) (seq 0 r).
Definition has_rank (n : nat) (M : list (list KIND)) (r : nat) : Prop :=
  exists C F X Y : list (list KIND), length F = r /\\ SAME (product C F n) M
    /\\ SAME (product X (product M Y r) r) (identity r).
"""

_SAME = """\
Definition same (A B : list (list Q)) : Prop :=
  length A = length B /\\ forallb (fun p => Nat.eqb (length (fst p)) (length (snd p))
    && forallb (fun e => Qeq_bool (fst e) (snd e)) (combine (fst p) (snd p))) (combine A B) = true.
"""

_RANKED = """\
Ltac ranked := cbn; repeat split; repeat (f_equal; try lra).
"""

PRELUDES = {"Q": _Q.splitlines(), "R": _R.splitlines()}

RANKS = {
    "Q": [
        *_SAME.splitlines(),
        *_RANK.replace("KIND", "Q").replace("PLUS", "Qplus").replace("SAME", "same").splitlines(),
    ],
    "R": [
        *_RANK.replace("KIND", "R")
        .replace("PLUS", "Rplus")
        .replace("SAME (product C F n) M", "product C F n = M")
        .replace(
            "SAME (product X (product M Y r) r) (identity r)",
            "product X (product M Y r) r = identity r",
        )
        .splitlines(),
        *_RANKED.splitlines(),
    ],
}
