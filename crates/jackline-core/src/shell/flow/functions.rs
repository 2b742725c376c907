//! Functions that a text defines. What one does is read where it is called, with what it is given there; one of which not
//! every call can be seen is read once more, with nothing known.

use std::rc::Rc;

use super::super::tree::{ARGUMENTS, ITSELF, Node};
use super::super::{COMMANDS_MAX, Word};
use super::{PARTS_MAX, Standing, State, Walker};

/// Calls that are followed in one text; people's scripts have a few dozen.
const CALLS_MAX: u32 = 64;
/// Calls inside calls that are followed; people's go three deep.
const CALLS_DEPTH_MAX: usize = 8;
/// Bodies that a name may have: a text may define it anew, or in each of some branches.
const BODIES_MAX: usize = 4;

/// Functions that shells call by themselves; some by the beginning of their names.
const CALLED_BY_SHELLS: &[&str] =
    &["TRAP", "chpwd", "command_not_found_handle", "periodic", "precmd", "preexec", "zshaddhistory", "zshexit"];

/// The bodies that a name may stand for; none where it is not known what it does.
pub(super) type Bodies = Vec<Rc<Node>>;

/// The functions that texts have defined so far.
#[derive(Debug, Default)]
pub(super) struct Functions {
    all: Vec<Function>,
    /// Where those of the present text begin.
    begun: usize,
    calls: u32,
    /// Those that are being walked, outermost first.
    open: Vec<usize>,
}

#[derive(Debug)]
struct Function {
    body: Rc<Node>,
    /// It stands in another text than the present one.
    elsewhere: bool,
    called: bool,
    /// There is a call that was not followed.
    missed: bool,
    /// It was read with nothing known.
    read: bool,
}

impl Functions {
    /// Another text begins; gives where those of the one around it do.
    pub(super) fn begin(&mut self) -> usize {
        std::mem::replace(&mut self.begun, self.all.len())
    }

    /// A text ends, and its functions with it, unless it was evaluated: then they are those of the text around it.
    pub(super) fn end(&mut self, around: usize, evaluated: bool) {
        match evaluated {
            true => self.all.iter_mut().skip(self.begun).for_each(|function| function.elsewhere = true),
            false => self.all.truncate(self.begun),
        }
        self.begun = around;
    }

    fn number(&mut self, body: &Rc<Node>) -> usize {
        self.all.iter().position(|function| Rc::ptr_eq(&function.body, body)).unwrap_or_else(|| {
            let body = Rc::clone(body);
            self.all.push(Function { body, elsewhere: false, called: false, missed: false, read: false });
            self.all.len() - 1
        })
    }

    /// One of the present text that is yet to be read with nothing known; the last first, which often calls the others.
    fn unread(&mut self, any: bool) -> Option<(usize, Rc<Node>)> {
        let own = self.all.iter_mut().enumerate().skip(self.begun).rev();
        let mut open = own.filter(|(_, function)| !function.read && (any || function.missed || !function.called));
        let (number, function) = open.next()?;
        function.read = true;
        Some((number, Rc::clone(&function.body)))
    }
}

/// Adds a body to those that a name may stand for.
pub(super) fn define(state: &mut State, name: &str, body: &Rc<Node>) {
    match state.functions.get_mut(name) {
        None => {
            state.functions.insert(name.to_owned(), vec![Rc::clone(body)]);
        }
        // It is not known, and stays so.
        Some(bodies) if bodies.is_empty() => {}
        Some(bodies) => add(bodies, body),
    }
}

/// Takes what names stand for elsewhere for possible here, too.
pub(super) fn merge(state: &mut State, other: &State) {
    for (name, bodies) in &other.functions {
        match state.functions.get_mut(name) {
            None => {
                state.functions.insert(name.clone(), bodies.clone());
            }
            Some(own) if bodies.is_empty() => own.clear(),
            Some(own) if own.is_empty() => {}
            Some(own) => bodies.iter().for_each(|body| add(own, body)),
        }
    }
}

/// Gives a name back what it stood for, beside what it stands for by now.
pub(super) fn put_back(state: &mut State, name: String, bodies: Bodies) {
    let now = state.functions.insert(name.clone(), bodies).unwrap_or_default();
    now.iter().for_each(|body| define(state, &name, body));
}

fn add(bodies: &mut Bodies, body: &Rc<Node>) {
    if !bodies.iter().any(|known| Rc::ptr_eq(known, body)) {
        bodies.push(Rc::clone(body));
    }
}

/// What a function is called with: its arguments, and the variables that are set for it.
#[derive(Clone, Copy)]
pub(super) struct Call<'c> {
    pub(super) name: &'c str,
    pub(super) arguments: &'c [Word],
    pub(super) env: &'c [(String, Word)],
}

impl Walker<'_> {
    pub(super) fn defined(&mut self, name: &str, body: &Rc<Node>, state: &mut State) -> Result<(), String> {
        define(state, name, body);
        let number = self.functions.number(body);
        if CALLED_BY_SHELLS.iter().any(|known| name.starts_with(known)) {
            let mut inside = state.inside_function();
            self.function(number, body, &mut inside, UNSEEN)?;
            state.unproven |= inside.unproven;
        }
        Ok(())
    }

    /// A call: what the function does with what it is given. What it leaves is known where it surely came to its end.
    pub(super) fn call(&mut self, call: Call<'_>, state: &mut State, standing: Standing) -> Result<(), String> {
        let bodies = state.functions.get(call.name).cloned().unwrap_or_default();
        let before = state.clone();
        let mut known = !bodies.is_empty();
        for (number, body) in bodies.iter().enumerate() {
            let mut inside = before.clone();
            self.assign_all(call.env, &mut inside);
            // Some shells have the function's own name there.
            inside.variables.forget(ITSELF);
            inside.variables.assign_elements(ARGUMENTS, call.arguments.to_vec());
            let followed = number < BODIES_MAX && self.follow(body, &mut inside, standing.unsure())?;
            known &= followed && inside.left == before.left;
            inside.left = before.left;
            inside.variables.leave_function(&before.variables);
            state.merge(&inside);
        }
        if !known {
            state.forget_all();
            state.variables.leave_function(&before.variables);
        }
        Ok(())
    }

    /// Walks a body that is called here, if there were not too many calls yet.
    fn follow(&mut self, body: &Rc<Node>, inside: &mut State, standing: Standing) -> Result<bool, String> {
        let number = self.functions.number(body);
        let functions = &mut self.functions;
        let roomy = self.bounds.parts < PARTS_MAX / 2 && self.reading.commands.len() < COMMANDS_MAX / 2;
        let follows = roomy
            && functions.calls < CALLS_MAX
            && functions.open.len() < CALLS_DEPTH_MAX
            && !functions.open.contains(&number);
        functions.calls += 1;
        if let Some(function) = functions.all.get_mut(number) {
            function.called = true;
            function.missed |= !follows;
        }
        if follows {
            self.function(number, body, inside, standing)?;
        }
        Ok(follows)
    }

    fn function(&mut self, number: usize, body: &Node, inside: &mut State, standing: Standing) -> Result<(), String> {
        self.functions.open.push(number);
        // Here-documents of another text are not at hand.
        let elsewhere = self.functions.all.get(number).is_some_and(|function| function.elsewhere);
        let elsewhere = elsewhere || number < self.functions.begun;
        let bodies = if elsewhere { std::mem::take(&mut self.bodies) } else { self.bodies };
        let walked = self.node(body, inside, standing);
        self.bodies = bodies;
        self.functions.open.pop();
        walked
    }

    /// The text comes to its end: reads the functions of which not every call was seen, with nothing known.
    pub(super) fn uncalled(&mut self, state: &State) -> Result<(), String> {
        // What cannot be known may call any of them.
        while let Some((number, body)) = self.functions.unread(self.reading.opaque.is_some()) {
            self.function(number, &body, &mut state.inside_function(), UNSEEN)?;
        }
        Ok(())
    }
}

/// How a part stands that may be run at any time.
const UNSEEN: Standing =
    Standing { proves: false, piped: false, fed: false, shown: false, sure: false, guarded: false };
