//! The server as MCP's SDK drives it: lists our tools, and carries each call on a thread that may wait.

use std::sync::Arc;

use jackline_core::json::JSON_DEPTH_MAX;
use jackline_core::tools::OWN_SERVER;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::calling::{Asked, Serving};
use super::offer;
use crate::join::{CALL_ID_BYTES_MAX, CLAUDE_CALL};

/// Calls that are carried at once: agents make a handful, and each holds a thread. Others wait.
pub(super) const CALLS_MAX: usize = 32;

/// Answers clients.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    serving: Arc<Serving>,
    tools: Arc<Vec<Tool>>,
    room: Arc<Semaphore>,
}

impl Handler {
    pub(super) fn new(serving: Arc<Serving>) -> Self {
        Self { serving, tools: Arc::new(offer::tools()), room: Arc::new(Semaphore::new(CALLS_MAX)) }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        host_id: Option<String>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name.is_empty() {
            return Err(ErrorData::invalid_params("`name` is no tool's name", None));
        }
        let args = Value::Object(request.arguments.unwrap_or_default());
        if depth(&args) > JSON_DEPTH_MAX {
            return Err(ErrorData::invalid_params("the arguments are nested too deeply", None));
        }
        // How many wait here is bounded by who lets them in: connections, or lines that are read.
        let Ok(_room) = self.room.acquire().await else { return Err(ErrorData::internal_error("it ends", None)) };
        let Value::Object(args) = args else {
            return Err(ErrorData::invalid_params("the arguments are no object", None));
        };
        let asked = Asked { tool: request.name.into_owned(), args, host_id };
        let serving = Arc::clone(&self.serving);
        let called = spawn_blocking(move || serving.call(asked)).await;
        called.map(CallToolResponse::from).map_err(|_| ErrorData::internal_error("an internal fault", None))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let us = Implementation::new(OWN_SERVER, env!("CARGO_PKG_VERSION"));
        let info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_server_info(us);
        match self.serving.briefing() {
            Some(briefing) => info.with_instructions(briefing),
            None => info,
        }
    }

    async fn list_tools(
        &self,
        asked: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // The list has one page, and nobody was told of another.
        if asked.and_then(|asked| asked.cursor).is_some_and(|cursor| !cursor.is_empty()) {
            return Err(ErrorData::invalid_params("there is no page of that `cursor`", None));
        }
        Ok(ListToolsResult::with_all_items(self.tools.as_ref().clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let host_id = context.meta.get(CLAUDE_CALL).and_then(Value::as_str);
        let host_id = host_id.filter(|id| (1..=CALL_ID_BYTES_MAX).contains(&id.len())).map(str::to_owned);
        self.call(request, host_id).await
    }

    /// What the SDK cannot read as a request that it knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if ["tools/call", "tools/list", "initialize"].contains(&request.method.as_str()) {
            return Err(ErrorData::invalid_params(format!("the parameters do not fit `{}`", request.method), None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{}`", request.method), None))
    }
}

/// How deep a value is nested. The reader before us stops at twice the bound.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
