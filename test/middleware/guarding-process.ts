/*
 * A process of its own that resumes an approved call with the AI SDK's own loop and guarded tools, as soon as a line comes
 * in. Its effects go to a file that outlives it. Arguments: the folder of threads and body, and what the tool does: end, or hang.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { generateText, tool } from 'ai';
import { guardTools } from 'holdpoint/middleware';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { scriptedModel } from '../support/scripted-model.ts';
import { cityInput } from '../support/travel-world.ts';

const [folder = '', work = 'end'] = process.argv.slice(2);
const book = tool({
  description: 'book a flight',
  inputSchema: cityInput,
  execute: async ({ city }) => {
    appendFileSync(`${folder}/effects`, `${city}\n`);
    if (work === 'hang') {
      console.log('hanging');
      await once(process, 'never');
    }
    return { booked: city };
  },
});
console.log('ready');
await once(process.stdin, 'data');
const result = await generateText({
  model: scriptedModel([{ text: 'Done.' }]).model,
  tools: guardTools(
    { book },
    {
      store: sqliteStore(`${folder}/threads.sqlite`),
      threadId: 't',
      /* Who is killed is outwaited; who races must not be taken for dead on a busy machine. */
      leaseMs: work === 'hang' ? 300 : 60_000,
    },
  ),
  toolApproval: { book: 'user-approval' },
  messages: JSON.parse(readFileSync(`${folder}/body`, 'utf8')),
});
console.log(JSON.stringify(result.responseMessages[0]));
process.exit();
