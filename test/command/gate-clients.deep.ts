import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { gateClients, makeClientConfig } from '../../src/apps/command/gate-clients.ts';
import { freePort } from '../support/free-port.ts';
import { GateFolder } from './gate-driver.ts';

const elsewhere = mkdtempSync(join(tmpdir(), 'holdpoint-elsewhere-'));
afterAll(() => rmSync(elsewhere, { recursive: true }));

const entrySchema = z.object({ command: z.string(), args: z.array(z.string()) });

/** The server in a configuration: of JSON, or of the TOML that is printed. */
function readEntry(text: string) {
  if (!text.startsWith('[')) {
    const servers = z.record(z.string(), z.record(z.string(), entrySchema)).parse(JSON.parse(text));
    const [entry] = Object.values(servers).flatMap((each) => Object.values(each));
    return entrySchema.parse(entry);
  }
  const lines = text.split('\n').map((line) => line.split(' = '));
  const read = (name: string): unknown =>
    JSON.parse(lines.find(([key]) => key === name)?.[1] ?? 'null');
  return entrySchema.parse({ command: read('command'), args: read('args') });
}

test.each(gateClients)(
  'what is printed for %s starts the gate, from any folder',
  async (client) => {
    using folder = new GateFolder();
    const port = String(await freePort());
    const printing = ['--print-config', client, '--no-open', '--port', port];
    const printed = spawnSync(
      process.execPath,
      folder.makeArgs(...printing, '--', ...folder.bank),
      {
        env: folder.env,
        encoding: 'utf8',
      },
    );
    expect(printed.status).toBe(0);
    expect(printed.stderr).toMatch(/^Paste it into /);
    const transport = new StdioClientTransport({
      ...readEntry(printed.stdout),
      env: folder.env,
      cwd: elsewhere,
      stderr: 'pipe',
    });
    let error = '';
    transport.stderr?.on('data', (chunk: Buffer) => (error += chunk.toString()));
    const started = new Client({ name: client, version: '1' });
    await started.connect(transport);
    const { tools } = await started.listTools();
    expect(tools.map(({ name }) => name)).toContain('pay');
    await expect.poll(() => error).toContain(`http://127.0.0.1:${port}/`);
    await started.close();
  },
);

const stdio = { command: '/usr/bin/node', args: ['/opt/holdpoint.js', 'gate', '--', 'a "b"'] };
const http = { url: 'http://127.0.0.1:4647/mcp', headers: { Authorization: 'Bearer x' } };

test('Codex is made to require the gate', () => {
  expect(makeClientConfig('codex', 'files', stdio).text).toMatchInlineSnapshot(`
    "[mcp_servers.files]
    command = "/usr/bin/node"
    args = ["/opt/holdpoint.js","gate","--","a \\"b\\""]
    required = true
    startup_timeout_sec = 30
    tool_timeout_sec = 120"
  `);
  expect(makeClientConfig('codex', 'files', http).text).toContain(
    'http_headers = { "Authorization" = "Bearer x" }',
  );
});

test.each([
  ['claude-code', 'mcpServers', 'http'],
  ['cursor', 'mcpServers', undefined],
  ['vscode', 'servers', 'http'],
] as const)('over HTTP, %s sends the token', (client, field, type) => {
  const config: unknown = JSON.parse(makeClientConfig(client, 'files', http).text);
  expect(config).toEqual({ [field]: { files: { ...(type && { type }), ...http } } });
});
