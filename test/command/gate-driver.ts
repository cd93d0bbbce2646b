import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { runCommand } from '../support/run-holdpoint.ts';

const root = join(import.meta.dirname, '..', '..');
const program = join(root, 'src', 'apps', 'command', 'holdpoint.ts');
const bank = join(root, 'test', 'gate', 'bank-process.ts');

const listSchema = z.object({
  requests: z.array(
    z.object({
      requestId: z.string(),
      toolName: z.string().nullable(),
      agent: z.string().nullable(),
      request: z.object({ text: z.string() }).optional(),
    }),
  ),
});
const shownSchema = z.object({ digest: z.string() });

/** A folder with the store of gates, and a bank that writes what it pays. */
export class GateFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'holdpoint-gate-'));
  readonly store = join(this.path, '.holdpoint', 'gate.sqlite');
  readonly ledger = join(this.path, 'ledger');
  /** The words that start the bank. */
  readonly bank = [process.execPath, '--conditions=holdpoint-source', bank, this.ledger];
  /** Programs here are found first. */
  readonly programs = join(this.path, 'bin');
  readonly env = { HOME: this.path, PATH: `${this.programs}:${process.env['PATH']}` };

  constructor() {
    writeFileSync(this.ledger, '');
  }

  /** Writes a file of a gate in front of the bank. */
  writeConfig(rules: readonly object[], more: object = {}): string {
    const [command, ...args] = this.bank;
    const path = join(this.path, 'gate.json');
    const servers = { bank: { command, args } };
    writeFileSync(path, JSON.stringify({ name: 'payments', servers, rules, ...more }));
    return path;
  }

  countPayments(): number {
    return readFileSync(this.ledger, 'utf8').split('\n').length - 1;
  }

  /** The words that start a gate. */
  makeArgs(...args: string[]): string[] {
    return ['--conditions=holdpoint-source', program, 'gate', ...args];
  }

  /** Runs `npx holdpoint` on the store. */
  async run(...args: string[]) {
    return runCommand(args, { env: { ...this.env, HOLDPOINT_STORE: this.store } });
  }

  /** The requests in this state, oldest first. */
  async list(state = 'open') {
    const { output } = await this.run('list', '--state', state, '--json');
    return listSchema.parse(JSON.parse(output)).requests;
  }

  /** Answers the only open request about a call. */
  async answer(...answer: string[]): Promise<void> {
    const [row] = (await this.list()).filter(({ toolName }) => toolName !== null);
    const { requestId = '' } = row ?? {};
    const shown = await this.run('show', requestId, '--json');
    const { digest } = shownSchema.parse(JSON.parse(shown.output));
    const args = ['answer', requestId, '--as', 'boss', '--digest', digest, ...answer];
    const ended = await this.run(...args);
    if (ended.status !== 0) throw new Error(ended.error);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}

/** A client of a gate that it has started as its process. */
export class GateClient implements AsyncDisposable {
  /** The addresses that the gate has it show to its user. */
  readonly shown: string[] = [];
  readonly client = new Client(
    { name: 'driver', version: '1' },
    { capabilities: { elicitation: { url: {} } } },
  );
  readonly transport: StdioClientTransport;
  /** What the gate has written to its standard error. */
  error = '';

  constructor(folder: GateFolder, args: readonly string[]) {
    this.transport = new StdioClientTransport({
      command: process.execPath,
      args: folder.makeArgs(...(args.includes('--open') ? [] : ['--no-open']), ...args),
      env: folder.env,
      cwd: folder.path,
      stderr: 'pipe',
    });
    this.client.setRequestHandler('elicitation/create', ({ params }) => {
      if (params.mode === 'url') this.shown.push(params.url);
      return { action: 'cancel' };
    });
    this.transport.stderr?.on('data', (chunk: Buffer) => (this.error += chunk.toString()));
  }

  /** Starts a gate with these options, and connects to it. */
  static async start(folder: GateFolder, ...args: string[]): Promise<GateClient> {
    const started = new GateClient(folder, args);
    await started.client.connect(started.transport);
    return started;
  }

  async call(name: string, input: Record<string, unknown> = {}): Promise<string> {
    const { content } = await this.client.callTool({ name, arguments: input });
    return content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n');
  }

  async [Symbol.asyncDispose]() {
    await this.client.close();
  }
}
