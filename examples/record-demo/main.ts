import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { animatedSvg, type Frame } from './animated-svg.ts';
import { Terminal } from './terminal.ts';

/* Records the demo as README shows it. It needs tmux: `npx node examples/record-demo/main.ts`. */

const root = join(import.meta.dirname, '..', '..');
const target = join(root, 'docs', 'images', 'demo.svg');
const columns = 86;
const frames: Frame[] = [];

/* A folder of its own, so that `npm start` neither finds nor leaves a conversation in this one. */
const folder = await mkdtemp(join(tmpdir(), 'holdpoint-recording-'));
await cp(join(root, 'package.json'), join(folder, 'package.json'));
for (const name of ['node_modules', 'examples', 'src']) {
  await symlink(join(root, name), join(folder, name));
}

try {
  await using terminal = new Terminal();
  await terminal.start({ folder, columns, rows: 26 });
  await record(terminal);
} finally {
  await rm(folder, { recursive: true });
}
const title =
  'A terminal: the travel agent asks before it books a flight, is killed, asks the same after a restart, and books once approved.';
await writeFile(target, animatedSvg(frames, columns, title));

async function record(terminal: Terminal): Promise<void> {
  const take = async (seconds: number, caption: string): Promise<void> => {
    frames.push({ rows: await terminal.rows(), seconds, caption });
  };
  const type = async (text: string, caption: string): Promise<void> => {
    for (const part of text.match(/.{1,5}/g) ?? []) {
      await terminal.type(part);
      await terminal.shows(part.trim());
      await take(0.12, caption);
    }
    await take(0.4, caption);
    await terminal.press('Enter');
  };

  const ask = 'You ask the agent for a flight';
  await take(0.6, ask);
  await type('npm start', ask);
  await terminal.shows('You: ▏');
  await take(0.8, ask);
  await type('Book me a flight to Paris on Friday, under 300', ask);

  const choose = 'It asks you to choose';
  await terminal.shows('Say something else...');
  await take(2, choose);
  await terminal.press('Down');
  await terminal.shows(/^ {4}HP.*\n {2}❯ HP/m);
  await take(0.8, choose);
  await terminal.press('Enter');

  await terminal.shows('Reject with a reason');
  await take(3, 'It asks before it books');

  await terminal.killProgram();
  await terminal.shows('Killed');
  await take(1.6, 'Its process is killed with kill -9');
  await terminal.press('C-l');
  await type('npm start', 'Started again …');

  await terminal.shows('Reject with a reason');
  await take(3, 'Started again: the same request is still open');
  const approve = 'Approved: now it books, once';
  await terminal.press('Up');
  await terminal.shows('❯ Approve');
  await take(1, approve);
  await terminal.press('Enter');
  await terminal.shows('bookFlight …');
  await take(1.2, approve);
  await terminal.shows('You: ▏');
  await take(6, approve);
}
