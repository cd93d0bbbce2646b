import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';

const patience = { timeout: 20_000, interval: 50 };

/** Starts the example in a folder; what it has printed so far. */
async function start(folder: string) {
  const PORT = String(await freePort());
  const example = spawn(
    process.execPath,
    ['--conditions=holdpoint-source', 'examples/mail-link/main.ts'],
    { env: { ...process.env, HOLDPOINT_DEMO_DIR: folder, PORT }, stdio: 'pipe' },
  );
  let printed = '';
  for (const stream of [example.stdout, example.stderr])
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const ended = once(example, 'exit');
  const stop = async (): Promise<void> => {
    example.kill('SIGTERM');
    await ended;
  };
  return { printed: () => printed, [Symbol.asyncDispose]: stop };
}

const own = { 'sec-fetch-site': 'same-origin', origin: 'null' };

test('the mail goes to the one who may approve; her link approves once, and the worker pays once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdpoint-mail-link-'));
  {
    await using example = await start(folder);
    await vi.waitFor(() => expect(example.printed()).toContain("Don't forward it."), patience);
    const mail = example.printed();
    expect(mail).toContain('To: ada@example.com\nSubject: Please decide: Pay 420 EUR to ACME?');
    /* Zoe is of the same team, and has asked for it. */
    expect(mail).not.toContain('To: zoe');
    const link = /http:\S+/.exec(mail)?.[0] ?? '';
    const page = await (await fetch(link)).text();
    const code = /name="code" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const post = async (fields: Record<string, string>, headers: Record<string, string> = own) =>
      (await fetch(link, { method: 'POST', body: new URLSearchParams(fields), headers })).status;
    expect(await post({ code, action: 'approve' }, {})).toBe(403);
    expect(await post({ code, action: 'approve', euros: '1' })).toBe(403);
    expect(await post({ code, action: 'approve' })).toBe(200);
    expect(await post({ code, action: 'approve' })).toBe(409);
    await vi.waitFor(() => expect(example.printed()).toContain('Paid 420 EUR to ACME.'), patience);
    expect(example.printed().match(/Paid/g)).toHaveLength(1);
  }
  expect((await stat(join(folder, 'link-key.txt'))).mode & 0o777).toBe(0o600);
  await rm(folder, { recursive: true });
});
