// RUN: xla-opt %s --split-input-file --verify-diagnostics | xla-opt --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @words
func.func @words(%a: i8, %b: i16, %c: bf16, %w: i32) {
  // CHECK-NEXT: words.join %a, %a, %a, %a : i8, i8, i8, i8
  %0 = words.join %a, %a, %a, %a : i8, i8, i8, i8
  // CHECK-NEXT: words.join %b, %b : i16, i16
  %1 = words.join %b, %b : i16, i16
  // CHECK-NEXT: words.join %c, %c : bf16, bf16
  %2 = words.join %c, %c : bf16, bf16
  // CHECK-NEXT: words.pair_product
  %3 = words.pair_product %1, %w
  // CHECK-NEXT: words.dot_product {{.*}} {rhs_is_unsigned, flipped = "lhs"} -> i32
  %4 = words.dot_product %0, %w {rhs_is_unsigned, flipped = "lhs"} -> i32
  // CHECK-NEXT: words.dot_product {{.*}} -> f32
  %5 = words.dot_product %2, %w -> f32
  func.return
}

// -----

func.func @more_than_a_word(%a: i16) {
  // expected-error@+1 {{32 bits of one type are joined; found 48}}
  %0 = words.join %a, %a, %a : i16, i16, i16
  func.return
}

// -----

func.func @several_types(%a: i16, %b: bf16) {
  // expected-error@+1 {{32 bits of one type are joined; found i16, bf16}}
  %0 = words.join %a, %b : i16, bf16
  func.return
}

// -----

func.func @other_sum(%a: i32) {
  // expected-error@+1 {{bytes are added to an i32, bf16 to an f32; found i64}}
  %0 = words.dot_product %a, %a -> i64
  func.return
}

// -----

func.func @signs_of_floats(%a: i32) {
  // expected-error@+1 {{rhs_is_unsigned, of numbers of bf16}}
  %0 = words.dot_product %a, %a {rhs_is_unsigned} -> f32
  func.return
}

// -----

func.func @no_factor(%a: i32) {
  // expected-error@+1 {{flipped is lhs or rhs, not total}}
  %0 = words.dot_product %a, %a {flipped = "total"} -> i32
  func.return
}
