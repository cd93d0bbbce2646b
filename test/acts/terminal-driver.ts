import { PassThrough } from 'node:stream';
import { askInTerminal } from 'holdpoint/terminal';
import { VirtualOutput } from '../terminal/virtual-terminal.ts';
import type { Do, Driver } from './acts.ts';
import { byOf, codeOf } from './agent-driver.ts';
import { openScene, threadOf } from './scenes.ts';

const channel = 'terminal';

/** Somebody types lines in a terminal, and the program passes on what they have answered. */
function type(...lines: string[]): Do {
  return async (world, person) =>
    codeOf(async () => {
      const thread = await threadOf(world);
      const input = new PassThrough().end(lines.map((line) => `${line}\n`).join(''));
      const output = Object.assign(new VirtualOutput(), { isTTY: false });
      /* Nobody in particular sits at a pipe. */
      const acceptLines = person !== 'nobody';
      const answers = await askInTerminal(thread.activeRequests, { input, output, acceptLines });
      if (answers.length === 0) throw new Error(`Nothing was answered:\n${output.written}`);
      return world.agent.run(answers, thread, { ...byOf(person), channel });
    });
}

/** What somebody types. */
export const terminalDriver: Driver = {
  channel,
  open: openScene,
  ways: {
    approve: type('approve'),
    reject: type('reject'),
    'answer-question': type('1'),
    remember: type('Approve, and later calls too', '1', 'approve'),
  },
};
