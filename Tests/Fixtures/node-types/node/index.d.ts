// Of the types of Node, those that examples/typescript/bot.ts uses: for a Node that was installed without them.
declare module "node:child_process" {
  interface Input { write(text: string): boolean; end(): void }
  interface Child { stdin: Input; stdout: object; on(event: "close", listener: () => void): void }
  export function spawn(command: string, words: string[], options: { stdio: ("ignore" | "pipe" | "inherit")[] }): Child;
}
declare module "node:events" {
  export function once(emitter: object, event: string): Promise<unknown[]>;
}
declare module "node:readline" {
  export function createInterface(options: { input: object }): AsyncIterable<string>;
}
declare const process: { exit(status: number): never };
