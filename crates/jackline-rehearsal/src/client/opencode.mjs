// OpenCode as a server that stays up: the prompts are said in one session, each once all is quiet, and then it is ended.
// Arguments: the program, the prompts as JSON, further arguments of the server.
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"

// Milliseconds of quiet after which nothing more comes: a guard that was told of the end may still answer with a prompt.
const QUIET_MS = 4000
const LOOK_MS = 100

const [program, prompts, ...further] = process.argv.slice(2)
const listen = ["serve", "--hostname", "127.0.0.1", "--port", "0", ...further]
const server = spawn(program, listen, { stdio: ["ignore", "pipe", "inherit"] })

const address = async () => {
  for await (const line of createInterface({ input: server.stdout })) {
    const found = line.match(/http:\/\/\S+/)
    if (found) return found[0]
  }
  throw new Error("the server ended before it listened")
}

const base = await address()
const ask = async (method, path, body) => {
  const headers = { "content-type": "application/json" }
  const answer = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

const { id } = await ask("POST", "/session", {})
for (const text of JSON.parse(prompts)) {
  await ask("POST", `/session/${id}/message`, { parts: [{ type: "text", text }] })
  for (let quiet = 0; quiet < QUIET_MS; quiet += LOOK_MS) {
    const status = (await ask("GET", "/session/status"))[id]
    if (status && status.type !== "idle") quiet = 0
    await sleep(LOOK_MS)
  }
}
server.kill()
