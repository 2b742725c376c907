//! The runtime as an embedder uses it, on each store.

use std::sync::Arc;

use jackline_runtime::Runtime;
use jackline_runtime::adapters::lines::Lines;
use jackline_runtime::store::Store;
use jackline_runtime::store::memory::MemoryStore;

use crate::Engine;
use crate::case::Case;
use crate::world::World;

struct Embedded {
    runtime: Runtime,
    build: Box<dyn Fn() -> Runtime>,
}

pub(crate) fn on_files(case: &Case, world: &World) -> Result<Box<dyn Engine>, String> {
    let (root, store, home, text) =
        (world.root.clone(), world.store.clone(), world.home.clone(), world.definition.clone());
    start(case, move || {
        Runtime::builder()
            .workspace(&root)
            .home(&home)
            .state(&store)
            .definition_yaml(&text)
            .build()
            .map_err(|fault| fault.to_string())
    })
}

pub(crate) fn on_memory(case: &Case, world: &World) -> Result<Box<dyn Engine>, String> {
    let (root, home, text) = (world.root.clone(), world.home.clone(), world.definition.clone());
    // The store outlives the runtime here, as a database would.
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    start(case, move || {
        Runtime::builder()
            .workspace(&root)
            .home(&home)
            .store(Arc::clone(&store))
            .definition_yaml(&text)
            .build()
            .map_err(|fault| fault.to_string())
    })
}

fn start(_case: &Case, build: impl Fn() -> Result<Runtime, String> + 'static) -> Result<Box<dyn Engine>, String> {
    let runtime = build()?;
    Ok(Box::new(Embedded { runtime, build: Box::new(move || build().expect("built once already")) }))
}

impl Engine for Embedded {
    fn ask(&mut self, line: &str) -> String {
        self.runtime.handle(&Lines, line.as_bytes()).stdout
    }

    fn restart(&mut self) {
        self.runtime = (self.build)();
    }
}
