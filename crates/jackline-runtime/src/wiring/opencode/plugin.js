// Jackline's plugin for OpenCode, written by `jackline init opencode`. It asks the program below about every call, and
// decides nothing itself. What is changed here is overwritten; `jackline uninit opencode` takes it away.
const LINE = []
const SECONDS = {}

import { spawn } from "node:child_process"

// Bytes of an answer; a longer one is none.
const ANSWER_BYTES_MAX = 4 * 1024 * 1024
// Sessions that are remembered, so that a server that runs for months does not grow.
const SESSIONS_MAX = 1024

const remembered = () => {
  const map = new Map()
  return {
    get: (key) => map.get(key),
    has: (key) => map.has(key),
    delete: (key) => map.delete(key),
    set: (key, value) => {
      map.delete(key)
      map.set(key, value)
      if (map.size > SESSIONS_MAX) map.delete(map.keys().next().value)
    },
  }
}

// One message in, one answer out. Whatever goes wrong is a fault, and the caller says what becomes of it.
const ask = (message, cwd, seconds) =>
  new Promise((resolve, reject) => {
    let child
    try {
      child = spawn(LINE[0], LINE.slice(1), { cwd, stdio: ["pipe", "pipe", "pipe"] })
    } catch (fault) {
      return reject(new Error(`Jackline cannot be asked: ${fault.message}. Run \`jackline doctor\`.`))
    }
    let said = "", complaint = ""
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      reject(new Error("Jackline did not answer in time. Run `jackline doctor`."))
    }, seconds * 1000)
    child.on("error", (fault) => {
      clearTimeout(timer)
      reject(new Error(`Jackline cannot be asked: ${fault.message}. Run \`jackline doctor\`.`))
    })
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8").on("data", (part) => {
      if (said.length <= ANSWER_BYTES_MAX) said += part
    })
    child.stderr.setEncoding("utf8").on("data", (part) => {
      if (complaint.length <= ANSWER_BYTES_MAX) complaint += part
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code !== 0) return reject(new Error(complaint.trim() || `Jackline ended with ${code}. Run \`jackline doctor\`.`))
      try {
        // Our program always answers with an object; silence is another program's.
        const answer = JSON.parse(said)
        if (answer === null || typeof answer !== "object" || Array.isArray(answer)) throw new Error("it is no object")
        resolve(answer)
      } catch (fault) {
        reject(new Error(`Jackline's answer cannot be read: ${fault.message}. Run \`jackline doctor\`.`))
      }
    })
    child.stdin.end(JSON.stringify(message))
  })

export const Jackline = async ({ client, directory }) => {
  const parents = remembered()
  const started = remembered()
  const briefings = remembered()
  const contexts = remembered()
  const followups = remembered()
  const used = remembered()
  const counted = remembered()
  let servers = []

  // The session that began it all, and the one that acts: a sub-agent has a session of its own.
  const whose = async (id) => {
    let top = id
    for (let depth = 0; depth < 16; depth++) {
      if (!parents.has(top)) {
        let parent
        try {
          parent = (await client.session.get({ path: { id: top } }))?.data?.parentID
        } catch {}
        parents.set(top, parent)
      }
      const parent = parents.get(top)
      if (!parent) break
      top = parent
    }
    return top === id ? { session: top } : { session: top, agent: id }
  }

  const send = async (hook, id, body, seconds = SECONDS.gate) => {
    const message = { hook, ...(await whose(id)), cwd: directory, servers, ...body }
    // Where OpenCode was started, not at the top of the repository: a package has its own definition.
    return ask(message, directory, seconds)
  }

  // What is not about to run anything goes on when something is wrong with us.
  const tell = async (hook, id, body, seconds) => {
    try {
      return await send(hook, id, body, seconds)
    } catch {
      return {}
    }
  }

  const begin = async (id) => {
    if (started.has(id)) return
    started.set(id, true)
    const answer = await tell("session.created", id, {})
    if (answer.context) briefings.set(id, answer.context)
  }

  const meter = (info) => {
    if (info?.role !== "assistant" || !info.tokens) return
    const now = {
      input: (info.tokens.input ?? 0) + (info.tokens.cache?.write ?? 0),
      output: (info.tokens.output ?? 0) + (info.tokens.reasoning ?? 0),
      cost: info.cost ?? 0,
    }
    const before = counted.get(info.id) ?? { input: 0, output: 0, cost: 0 }
    const sum = used.get(info.sessionID) ?? { input: 0, output: 0, cost: 0 }
    for (const key of Object.keys(sum)) sum[key] += Math.max(0, now[key] - before[key])
    counted.set(info.id, now)
    used.set(info.sessionID, sum)
  }

  const usage = (id) => {
    const sum = used.get(id)
    used.delete(id)
    if (!sum) return undefined
    return { input_tokens: sum.input, output_tokens: sum.output, cost_usd: sum.cost }
  }

  const lastWords = async (id) => {
    try {
      const messages = (await client.session.messages({ path: { id } }))?.data ?? []
      const last = messages.filter((message) => message.info?.role === "assistant").pop()
      return (last?.parts ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\n")
    } catch {
      return undefined
    }
  }

  const stopped = async (id) => {
    const answer = await tell("session.idle", id, { message: await lastWords(id), again: followups.has(id) }, SECONDS.stop)
    if (!answer.followup) return followups.delete(id)
    followups.set(id, answer.followup)
    const body = { parts: [{ type: "text", text: answer.followup }] }
    await client.session.promptAsync({ path: { id }, body }).catch(() => {})
  }

  const seen = {
    "session.created": (about) => parents.set(about.info?.id ?? about.sessionID, about.info?.parentID),
    "message.updated": (about) => meter(about.info),
    "session.idle": (about) => stopped(about.sessionID),
    "session.deleted": (about) => tell("session.deleted", about.info?.id ?? about.sessionID, {}),
  }

  return {
    config: async (config) => {
      servers = Object.keys(config?.mcp ?? {})
    },
    event: async ({ event }) => {
      await seen[event.type]?.(event.properties ?? {})
    },
    "chat.message": async (input, output) => {
      const text = (output.parts ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\n")
      await begin(input.sessionID)
      // What we said ourselves is no person's word.
      if (followups.get(input.sessionID) === text) return
      const answer = await tell("chat.message", input.sessionID, { prompt: text })
      // It stands until the next prompt.
      if (answer.context) contexts.set(input.sessionID, answer.context)
      else contexts.delete(input.sessionID)
    },
    "experimental.chat.system.transform": async (input, output) => {
      for (const told of [briefings, contexts]) {
        const text = told.get(input?.sessionID)
        if (text) output.system.push(text)
      }
    },
    "tool.execute.before": async (input, output) => {
      await begin(input.sessionID)
      const body = { input: { tool: input.tool, callID: input.callID }, args: output.args }
      const answer = await send("tool.execute.before", input.sessionID, body)
      if (answer.deny !== undefined) throw new Error(answer.deny)
      if (answer.args) {
        for (const key of Object.keys(output.args)) if (!(key in answer.args)) delete output.args[key]
        Object.assign(output.args, answer.args)
      }
    },
    "tool.execute.after": async (input, output) => {
      const body = { input: { tool: input.tool, callID: input.callID }, args: input.args, output, usage: usage(input.sessionID) }
      const answer = await tell("tool.execute.after", input.sessionID, body)
      if (answer.output !== undefined) {
        if (Array.isArray(output.content)) output.content = [{ type: "text", text: answer.output }]
        else output.output = answer.output
      }
      if (answer.context) {
        if (Array.isArray(output.content)) output.content.push({ type: "text", text: answer.context })
        else output.output = `${output.output ?? ""}\n\n${answer.context}`
      }
    },
  }
}
