import type { Authorize } from 'holdpoint';
import { createPostHandler } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createCallbackHandler, createToolServer, remoteTool } from 'holdpoint/rap';
import { createUiHandler } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { memoryWorld } from '../support/travel-world.ts';

const agent = memoryWorld([]).agent();
const authorize: Authorize = async () => undefined;
const inputSchema = z.object({ service: z.string() });
const signing = { secret: 's'.repeat(32) };
const remote = {
  endpoint: 'https://tools.example/deploy',
  description: 'Deploys.',
  inputSchema,
  callbackUrl: 'https://agent.example/callback',
  secret: 's'.repeat(32),
};
const schema = z.object({ threadId: z.string() });
const post = { authorize, schema, handle: async () => {} };

/* Each would leave open what its author believes to be closed, or closed what is believed to be open. */
test.each([
  [
    'createUiHandler',
    (options: object) => createUiHandler({ agent, authorize, ...options }),
    { allowedOrigin: ['https://app.example'] },
    'allowedOrigins',
  ],
  [
    'createAgUiHandler',
    (options: object) => createAgUiHandler({ agent, authorize, ...options }),
    { redactToolError: true },
    'redactToolErrors',
  ],
  [
    'createPostHandler',
    (options: object) => createPostHandler({ ...post, ...options }),
    { maximumBodyByte: 10 },
    'maximumBodyBytes',
  ],
  [
    'createToolServer',
    (options: object) => createToolServer({ tools: {}, ...options }),
    { singing: signing },
    'signing',
  ],
  [
    'createToolServer',
    (options: object) => createToolServer({ tools: {}, ...options }),
    { allowedOrigin: ['https://agent.example'] },
    'allowedOrigins',
  ],
  [
    'remoteTool',
    (options: object) => remoteTool({ ...remote, ...options }),
    { singing: signing },
    'signing',
  ],
  [
    'createCallbackHandler',
    (options: object) => createCallbackHandler({ agent, tools: {}, ...options }),
    { maximumQuestion: 1 },
    'maximumQuestions',
  ],
])('a misspelled option of %s is refused by its name', (where, create, misspelled, meant) => {
  const [name] = Object.keys(misspelled);
  expect(() => create(misspelled)).toThrow(
    new TypeError(`${where} has no setting '${name}'; did you mean '${meant}'?`),
  );
  expect(() => create({})).not.toThrow();
});

test('a list of secrets under a wrong name is no secret', () => {
  const unnamed = { tools: {}, signing: { secrets: [signing.secret] } };
  expect(() => Reflect.apply(createToolServer, undefined, [unnamed])).toThrow(TypeError);
});
