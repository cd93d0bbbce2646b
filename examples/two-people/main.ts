import { tool } from 'ai';
import { createAgent, mayAnswerByRole } from 'holdpoint';
import { createUiHandler } from 'holdpoint/ui';
import { z } from 'zod';
import { buildPage } from '../build-page.ts';
import { demoLanguageModel } from '../demo-language-model.ts';
import { serveFetch } from '../serve-fetch.ts';

/* Ada travels and asks; Bob, a manager, approves. The host in the address says who it is, so that one browser can show both: a demo, no sign-in. */
const people = new Map([
  ['localhost', { id: 'ada', roles: ['traveller'] }],
  ['127.0.0.1', { id: 'bob', roles: ['manager'] }],
]);
const principalSchema = z.object({ roles: z.array(z.string()) });

const agent = createAgent({
  model: demoLanguageModel((prompt) => {
    const results = prompt.slice(prompt.findLastIndex(({ role }) => role === 'user') + 1);
    if (results.length > 0) return { text: 'That is settled, then.' };
    return { calls: [{ toolName: 'bookFlight', input: { city: 'Paris', price: 420 } }] };
  }, 25),
  tools: {
    bookFlight: tool({
      description: 'Books a flight.',
      inputSchema: z.object({ city: z.string(), price: z.number().positive() }),
      execute: async ({ city, price }) => ({ booked: city, price }),
    }),
  },
  toolApproval: {
    bookFlight: {
      type: 'user-approval',
      approvers: ['manager'],
      notRequester: true,
      editable: ['price'],
    },
  },
  mayAnswer: mayAnswerByRole({
    roles: (principal) => principalSchema.safeParse(principal).data?.roles ?? [],
    otherwise: 'manager',
  }),
});
const handleChat = createUiHandler({
  agent,
  authorize: ({ request }) => {
    const principal = people.get(new URL(request.url).hostname);
    return principal && { principal };
  },
});
const servePage = await buildPage(new URL('page', import.meta.url));
const server = await serveFetch(
  async (request) =>
    new URL(request.url).pathname === '/chat' ? handleChat(request) : servePage(request),
  Number(process.env['PORT'] || 3230),
);
const address = server.address();
const port = typeof address === 'object' ? address?.port : undefined;
console.log(`Ada asks at http://localhost:${port}/#trip
Bob approves at http://127.0.0.1:${port}/#trip`);
