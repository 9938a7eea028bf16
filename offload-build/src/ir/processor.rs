//! Taking the processor out of a module.

/// The attributes with which clang's front end says for which processor a function is compiled
/// (<https://llvm.org/docs/LangRef.html#function-attributes>).
const ATTRIBUTES: [&str; 2] = [" \"target-cpu\"=\"", " \"target-features\"=\""];

/// `module` without the processor and its features in the attributes of functions: those of the code generator's
/// command line hold then. `None` if functions differ in them, by an attribute `target` for example.
pub(crate) fn without_processor(module: &str) -> Option<String> {
    let mut out = String::with_capacity(module.len());
    let mut found: [Option<&str>; 2] = [None; 2];
    for line in module.lines() {
        if !line.starts_with("attributes #") {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let mut kept = line.to_string();
        for (attribute, found) in ATTRIBUTES.iter().zip(&mut found) {
            let Some((_, rest)) = line.split_once(attribute) else { continue };
            let (value, _) = rest.split_once('"')?;
            if found.replace(value).is_some_and(|other| other != value) {
                return None;
            }
            kept = kept.replacen(&format!("{attribute}{value}\""), "", 1);
        }
        out.push_str(&kept);
        out.push('\n');
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "define void @k() #0 {\n\
        attributes #0 = { convergent \"no-trapping-math\"=\"true\" \"target-cpu\"=\"gfx906\" \"target-features\"=\"+a,+b\" \"z\"=\"1\" }\n\
        attributes #1 = { nounwind }\n\
        attributes #2 = { \"target-cpu\"=\"gfx906\" \"target-features\"=\"+a,+b\" }\n";

    #[test]
    fn the_processor_goes_and_all_else_stays() {
        let wanted = "define void @k() #0 {\n\
            attributes #0 = { convergent \"no-trapping-math\"=\"true\" \"z\"=\"1\" }\n\
            attributes #1 = { nounwind }\n\
            attributes #2 = { }\n";
        assert_eq!(without_processor(ONE).unwrap(), wanted);
    }

    #[test]
    fn functions_for_different_processors_stay_as_they_are() {
        let other = ONE.replacen("+a,+b", "+a", 1);
        assert_eq!(without_processor(&other), None);
    }
}
