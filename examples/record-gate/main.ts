import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { type Browser, chromium, type Page } from 'playwright-core';
import { agentVersions } from '../../test/gate/coding-agents.ts';
import { startAgentModel } from '../../test/gate/scripted-agent-model.ts';
import { cachedPackage } from '../../test/support/cached-package.ts';
import { freePort } from '../../test/support/free-port.ts';
import { animatedSvg, type Frame } from '../record-demo/animated-svg.ts';
import { Terminal } from '../record-demo/terminal.ts';
import { toWebp } from '../record-inbox/to-webp.ts';

/*
 * Records Claude Code behind a gate, as the guide shows it: `npm run record:gate`. It needs tmux and Debian's Chromium, and installs Claude Code.
 * Nothing is staged but the model, which is scripted: it pays, calls again whenever a call did not come to an end, and says what came of it.
 */

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const target = join(root, 'docs', 'images', 'gate.svg');
const columns = 96;
const frames: Frame[] = [];
const folder = await mkdtemp(join(tmpdir(), 'holdpoint-recording-'));
const project = join(folder, 'project');
const ledger = join(project, 'payments');
const programs = join(folder, 'bin');
const opened = join(folder, 'opened');

const model = await startAgentModel((result) =>
  result.includes('Paid.') ? 'ACME has got its 100 euros.' : undefined,
);
const store = await prepareFolder();
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  process.env['PATH'] = `${programs}:${process.env['PATH']}`;
  await using terminal = new Terminal();
  await terminal.start({ folder: project, columns, rows: 27 });
  await record(terminal, browser);
} finally {
  await browser.close();
  model.close();
  await rm(folder, { recursive: true, maxRetries: 5 });
}
const title =
  'Claude Code wants to pay. The page of the gate shows the call. The gate is killed, Claude Code calls again through another one, nobody is asked twice, and it pays once.';
await writeFile(target, animatedSvg(frames, columns, title));

/** A project whose only server is behind a gate, and programs that start Claude Code and open a browser. Returns the store of the gate. */
async function prepareFolder(): Promise<string> {
  for (const name of [join(project, '.claude'), programs]) await mkdir(name, { recursive: true });
  const source = ['--conditions=holdpoint-source', join(root, 'src/apps/command/holdpoint.ts')];
  const kept = join(folder, 'gate.sqlite');
  const config = join(folder, 'gate.json');
  const bank = {
    command: process.execPath,
    args: [...source.slice(0, 1), join(root, 'test/gate/bank-process.ts'), ledger],
  };
  await writeFile(config, JSON.stringify({ name: 'project', servers: { bank } }));
  const args = [...source, 'gate', '--no-open', '--store', kept]
    .concat('--port', String(await freePort()))
    .concat('--config', config);
  const servers = { bank: { type: 'stdio', command: process.execPath, args } };
  await writeFile(join(project, '.mcp.json'), JSON.stringify({ mcpServers: servers }));
  await writeFile(
    join(project, '.claude', 'settings.json'),
    JSON.stringify({
      permissions: { allow: ['mcp__bank__pay'], defaultMode: 'default' },
      enableAllProjectMcpServers: true,
    }),
  );
  await writeFile(
    join(folder, '.claude.json'),
    JSON.stringify({
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: ['none'], rejected: [] },
      projects: { [project]: { hasTrustDialogAccepted: true } },
    }),
  );
  const packages = await cachedPackage(agentVersions);
  const settings = {
    HOME: folder,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    MCP_CONNECTION_NONBLOCKING: '0',
    ENABLE_TOOL_SEARCH: 'false',
    IS_SANDBOX: '1',
    BROWSER: join(programs, 'open-page'),
  };
  const set = Object.entries(settings).map(([name, value]) => `${name}='${value}'`);
  const claude = join(packages, 'node_modules/.bin/claude');
  await writeProgram('claude', `${set.join(' ')} exec '${claude}' "$@"`);
  await writeProgram('open-page', `printf %s "$1" > '${opened}'`);
  return kept;
}

async function writeProgram(name: string, line: string): Promise<void> {
  await writeFile(join(programs, name), `#!/bin/sh\n${line}\n`);
  await chmod(join(programs, name), 0o755);
}

async function record(terminal: Terminal, shown: Browser): Promise<void> {
  const take = async (seconds: number, caption: string): Promise<void> => {
    frames.push({ rows: await terminal.rows(), seconds, caption });
  };
  const picture = async (page: Page, seconds: number, caption: string): Promise<void> => {
    const webp = await toWebp(await page.screenshot(), shown);
    const url = `data:image/webp;base64,${webp.toString('base64')}`;
    frames.push({ picture: url, seconds, caption });
  };

  const ask = 'Claude Code, whose model is scripted, and a bank behind a gate';
  await terminal.type('claude');
  await take(0.8, ask);
  await terminal.press('Enter');
  await terminal.shows('❯');
  await waitForTools();
  await terminal.type('Pay ACME 100 euros.');
  await terminal.shows('100 euros.');
  await take(1.5, ask);
  await terminal.press('Enter');
  await terminal.shows('Open in browser');
  await take(3.5, 'The call is held. Claude Code offers the page of the gate');
  await terminal.press('Enter');
  await terminal.shows("I'm done, continue");

  const page = await shown.newPage({ viewport: { width: 1240, height: 750 }, locale: 'en-GB' });
  const approve = page.locator('button.yes:not([aria-disabled="true"])');
  await page.goto(await readOpened());
  await approve.waitFor();
  await picture(page, 3.5, 'The page in the browser: the call with all its arguments');

  await terminal.press('Enter');
  await terminal.shows('waits for a person');
  await take(1.5, 'Nobody has answered yet');
  await killGate();
  await terminal.shows('Connection closed');
  await take(2.5, 'The gate is killed with kill -9');
  await terminal.shows('waits for a person');
  await take(2.5, 'Claude Code starts another gate and calls again: the same call');

  await page.reload();
  await approve.waitFor();
  await picture(page, 3, 'The same request on the page of the new gate: nobody is asked twice');
  await approve.click();
  await page.getByText('Approved').first().waitFor();
  await picture(page, 2, 'Approved');

  await terminal.shows('ACME has got its 100 euros.');
  await take(2.5, 'The call runs');
  await terminal.type('/exit');
  await setTimeout(500);
  await terminal.press('Enter');
  await terminal.shows('$');
  await terminal.type('wc -l payments');
  await terminal.press('Enter');
  await terminal.shows(/\d payments/);
  const payments = (await readFile(ledger, 'utf8')).split('\n').length - 1;
  if (payments !== 1) throw new Error(`It paid ${payments} times.`);
  await take(5, 'It has paid once');
}

/** Waits until the gate knows the tools of the bank: Claude Code asks its model also before it has them. */
async function waitForTools(): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; await setTimeout(50)) {
    const pins = await sqliteStore(store).list({ agent: 'project-upstreams' });
    if (pins.length > 0) return;
  }
  throw new Error('The gate has listed no tools.');
}

/** The address that Claude Code has opened. */
async function readOpened(): Promise<string> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; await setTimeout(50)) {
    const url = await readFile(opened, 'utf8').catch(() => '');
    if (url.startsWith('http')) return url;
  }
  throw new Error('Claude Code has opened no page.');
}

/** Sends SIGKILL to the process of the gate. */
async function killGate(): Promise<void> {
  const { stdout } = await run('ps', ['-eo', 'pid=,args=']);
  const line = stdout.split('\n').find((each) => each.includes(`gate --no-open --store ${store}`));
  if (line === undefined) throw new Error('No gate runs.');
  process.kill(Number.parseInt(line, 10), 'SIGKILL');
}
