// A bot in TypeScript: repeats what others write to it, each message exactly once. Needs Node 18, tsc and the types of
// Node (Debian: nodejs, node-typescript).
//
//   tsc --strict --target es2020 --module commonjs --typeRoots /usr/share/nodejs/@types --outDir out typescript/bot.ts
//   DM_USER=echo node out/bot.js     # run it again whenever it ends, for example with Restart=always in a systemd unit
//
// The answer and the acknowledgement of an event are one line, and so one transaction; dm-tail(1) explains this.
// dm.d.ts is made by schema-types. The first start answers nothing that was sent before.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { DmTail, SendLine } from "./dm";

function answer(event: DmTail): SendLine {
  if (event.type !== "message" || event.text === undefined) return {};
  const text = [...event.text].slice(0, 1000).join(""); // text.slice() could cut a character in half.
  const { id, conversation_id } = event;
  return { conversation_id, reply_to: id, text: `echo: ${text}`, nonce: `echo:${id}` };
}

async function main() {
  const stream = ["-f", "--json", "--others", "--consumer", "echo", "--cursor", "now"];
  const tail = spawn("dm-tail", stream, { stdio: ["ignore", "pipe", "inherit"] });
  const send = spawn("dm-send", ["-q", "--consumer", "echo"], { stdio: ["pipe", "inherit", "inherit"] });
  send.on("close", () => process.exit(1)); // Node would lose what is written to it after that, without an error.
  for await (const line of createInterface({ input: tail.stdout })) {
    const event: DmTail = JSON.parse(line);
    const ack = "cursor" in event ? event.cursor : undefined;
    if (!send.stdin.write(JSON.stringify({ ...answer(event), ack }) + "\n")) await once(send.stdin, "drain");
  }
  send.stdin.end();
}

void main();
