//! Tests of modules in parts.

use super::*;

const SIZE: PartSize = PartSize { kernels: 4, lines: 1000 };

/// A module of 32 kernels, of which each has a helper of its own and one that all have.
fn module(edited: Option<usize>) -> String {
    let mut text = String::from(
        "; ModuleID = 'm'\ntarget triple = \"x\"\n%struct.s = type { i32 }\n\n\
         @table = hidden constant [2 x i32] [i32 1, i32 2], align 4\n@__offload_host_abi = constant i32 1\n",
    );
    for kernel in 0..32 {
        text += &format!("@__offload_args_k{kernel} = constant [1 x i32] zeroinitializer\n");
    }
    for kernel in 0..32 {
        let (constant, line) =
            if edited == Some(kernel) { (77, "  call void @llvm.x(), !dbg !98\n") } else { (kernel, "") };
        text += &format!(
            "define hidden void @__offload_work_item_k{kernel}(ptr %0) #{} {{\n  call void @own{kernel}() #9, !dbg !{}\n\
             {line}  ret void\n}}\n\n; Function Attrs: nounwind\ndefine internal void @own{kernel}() #1 {{\n  \
             store i32 {constant}, ptr @table\n  call void @shared()\n  ret void\n}}\n",
            kernel % 3,
            100 + kernel + usize::from(edited.is_some_and(|edited| kernel > edited)),
        );
    }
    text += "define hidden void @shared() #1 {\n  ret void\n}\ndefine hidden void @__offload_begin(ptr %0) #2 {\n  ret void\n}\n\
             define hidden void @unused() {\n  ret void\n}\n\
             declare void @llvm.x()\nattributes #0 = { cold }\nattributes #1 = { hot }\nattributes #2 = { naked }\nattributes #9 = { nounwind }\n\
             !llvm.ident = !{!0}\n!0 = !{!\"a !1 @shared\"}\n!98 = !{i32 98}\n";
    for node in 100..140 {
        text += &format!("!{node} = distinct !{{!{node}, !0}}\n");
    }
    text
}

#[test]
fn an_edit_changes_one_part() {
    let before = split_module(&module(None), SIZE).unwrap();
    assert!(before.len() > 4, "{}", before.len());
    let kernels: usize = before.iter().map(|part| part.kernels.len()).sum();
    assert_eq!(kernels, 32);
    for edited in [0, 13, 31] {
        let after = split_module(&module(Some(edited)), SIZE).unwrap();
        assert_eq!(after.len(), before.len());
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after);
        let changed: Vec<_> =
            changed.map(|(_, after)| after.kernels.contains(&format!("k{edited}"))).collect();
        assert_eq!(changed, [true]);
    }
}

#[test]
fn a_part_has_what_its_kernels_reach() {
    let parts = split_module(&module(None), SIZE).unwrap();
    for (number, ModulePart { kernels, text }) in parts.iter().enumerate() {
        for kernel in 0..32 {
            let is_mine = kernels.contains(&format!("k{kernel}"));
            assert_eq!(text.contains(&format!("@own{kernel}()")), is_mine);
            assert_eq!(text.contains(&format!("@__offload_args_k{kernel} =")), is_mine);
        }
        assert_eq!(text.contains("@__offload_host_abi"), number == 0);
        assert!(
            text.contains("define hidden void @shared()")
                && text.contains("define hidden void @__offload_begin(")
        );
        assert!(text.contains("@table = internal constant") && !text.contains("@unused"), "{text}");
        assert!(text.contains("!llvm.ident = !{!"), "{text}");
        // Every number is defined.
        for reference in references::references(text) {
            let definition = match reference.referent {
                references::Referent::Node(node) => format!("\n!{node} = "),
                references::Referent::Attributes(group) => format!("\nattributes #{group} = {{ "),
                references::Referent::Global(_) => continue,
            };
            assert!(text.contains(&definition), "{definition} in {text}");
        }
    }
}

#[test]
fn kernels_of_one_variable_stay_together() {
    let shared = module(None)
        .replace("store i32 5, ptr @table", "store i32 5, ptr @counter")
        .replace("store i32 21, ptr @table", "store i32 21, ptr @counter")
        .replace("@table = ", "@counter = internal global i32 0\n@table = ");
    let parts = split_module(&shared, SIZE).unwrap();
    let with_counter: Vec<_> = parts.iter().filter(|part| part.text.contains("@counter")).collect();
    assert_eq!(with_counter.len(), 1);
    assert!(with_counter[0].kernels.contains("k5") && with_counter[0].kernels.contains("k21"));
    // All kernels are one component.
    let helper = module(None)
        .replace("@shared() #1 {\n", "@shared() #1 {\n  store i32 0, ptr @counter\n")
        .replace("@table = ", "@counter = internal global i32 0\n@table = ");
    assert_eq!(split_module(&helper, SIZE), None);
}

#[test]
fn what_parts_cannot_share_keeps_a_module_whole() {
    let whole = module(None);
    for added in [
        "@other = hidden alias i32, ptr @table\n",
        "$f = comdat any\n",
        "module asm \"nop\"\n",
        "@llvm.used = appending global [1 x ptr] [ptr @table], section \"llvm.metadata\"\n",
        "@visible = constant i32 1\n",
        "!7 = !{ptr @shared}\n",
    ] {
        assert!(split_module(&whole, SIZE).is_some());
        assert_eq!(split_module(&format!("{whole}{added}"), SIZE), None, "{added}");
    }
    let large = PartSize { kernels: 16, lines: 1000 };
    assert_eq!(split_module(&whole, large), None);
}

#[test]
fn units_list_the_variables_of_the_part() {
    let with_debug = format!(
        "{}!200 = distinct !DICompileUnit(language: DW_LANG_C99, globals: !201, nameTableKind: None)\n\
         !201 = !{{!202, !203}}\n!202 = !{{!\"of k1\"}}\n!203 = !{{!\"of k2\"}}\n!llvm.dbg.cu = !{{!200}}\n\
         @k1.tile = internal global [2 x i32] undef, !dbg !202\n@k2.tile = internal global [2 x i32] undef, !dbg !203\n",
        module(None).replace("store i32 1, ptr @table", "store i32 1, ptr @k1.tile")
    );
    for part in split_module(&with_debug, SIZE).unwrap() {
        assert_eq!(part.text.contains("of k1"), part.kernels.contains("k1"));
        assert!(!part.text.contains("of k2"), "{}", part.text);
    }
}

#[test]
fn the_runtime_is_hidden_from_other_parts() {
    let text = "define hidden void @__offload_end() #1 {\n}\ndefine hidden void @f() {\n}\ndefine i32 @__offload_run_k() {\n}\n";
    let hidden = hide_runtime(text);
    assert_eq!(hidden, text.replacen("hidden", "internal", 1));
}
