/*
 * A process beside the inbox: `ask <thread> <person> <tool> <input>` runs the agent, `approve <thread> <person>` answers what the thread asks,
 * `work` runs what was answered until it is killed.
 */
import { runWorker } from 'holdpoint/worker';
import { agent, script, store } from './agent.ts';

const [command, threadId = '', principal = '', name = '', input = ''] = process.argv.slice(2);
switch (command) {
  case 'ask':
    script.push({ id: 'call', name, input });
    await agent.run('Pay.', await agent.thread(threadId), { principal });
    break;
  case 'approve': {
    const thread = await agent.thread(threadId);
    const answers = thread.activeApprovalRequests.map((request) => request.approve());
    await agent.respond(answers, thread, { principal, channel: 'terminal' });
    break;
  }
  case 'work':
    await runWorker({ agent, store, signal: new AbortController().signal, pollMs: 100 });
    break;
  default:
    throw new Error(`There is no command ${command}.`);
}
console.log(Date.now());
process.exit();
