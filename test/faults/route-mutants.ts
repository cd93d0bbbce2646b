import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError/;
const ownRoute = 'http/post-handler';

/** What a route lets in: whose page, which form, which options. */
export const routeMutants: readonly SourceMutant[] = [
  {
    promise: 'a page of another site can use no route',
    within: 'receivePost',
    from: 'if (foreign !== undefined) return foreign;',
    to: '',
    suite: [ownRoute, 'a page of another site, in which Ada is signed in'],
    sentence: failed,
  },
  {
    promise: 'a form of another site can send no body that a route takes',
    within: 'readBodyText',
    from: 'sent.trim().toLowerCase() !== type',
    to: "type === 'nothing'",
    suite: [ownRoute, 'refuses a text'],
    sentence: failed,
  },
  {
    promise: 'whom a route of your own does not know calls nothing',
    within: 'receivePost',
    from: '(caller instanceof Response) return caller',
    to: "(caller instanceof Response) return { parsed, runOptions: { principal: 'x', channel: 'x' }, disconnected: new AbortController() }",
    suite: [ownRoute, 'refuses a stranger'],
    sentence: failed,
  },
  {
    promise: 'a body that does not fit its schema calls nothing',
    within: 'parseBody',
    from: '(error === undefined) return data',
    to: '(error !== null) return data ?? json',
    suite: [ownRoute, 'a body of another shape'],
    sentence: failed,
  },
  {
    promise: 'the agent of a route of your own says who a principal is',
    within: 'createPostHandler',
    from: '{ ...options, agent }',
    to: '{ ...options, agent: {} }',
    suite: [ownRoute, 'the agent says who a principal is'],
    sentence: failed,
  },
  {
    promise: 'a route of your own takes POST alone',
    within: 'createPostHandler',
    from: "request.method !== 'POST'",
    to: "request.method === 'GET'",
    suite: [ownRoute, 'another method'],
    sentence: failed,
  },
  {
    promise: 'a misspelled option is refused',
    within: 'refuseUnknown',
    from: 'value === undefined || Object.hasOwn(known, name)',
    to: 'value !== null',
    suite: ['http/misspelled-options', 'is refused by its name'],
    sentence: failed,
  },
  ...(
    [
      ['createUiHandler', 'uiHandlerSettings'],
      ['createAgUiHandler', 'agUiHandlerSettings'],
      ['createCallbackHandler', 'callbackHandlerSettings'],
      ['createToolServer', 'toolServerSettings'],
      ['remoteTool', 'remoteToolSettings'],
      ['createPostHandler', 'settings'],
    ] as const
  ).map(([name, settings]): SourceMutant => ({
    promise: `a misspelled option of ${name} is refused`,
    within: name,
    from: `refuseUnknown('${name}', options, ${settings});`,
    to: '',
    suite: ['http/misspelled-options', `a misspelled option of ${name} is refused`],
    sentence: failed,
  })),
  {
    promise: 'a page of the same host that came over http is one of another site',
    within: 'refuseForeignOrigin',
    from: "site === 'cross-site' || origin === undefined",
    to: 'origin === undefined',
    suite: ['ui/origin', 'is refused before anything is read'],
    sentence: /AssertionError/,
  },
  ...(
    [
      [
        'a route reads of a body only its thread before it asks who sent it',
        'receivePost',
        'const threadId = readTextField(body.json, format.threadIdField)',
        'format.parse(body.json);\n  const threadId = readTextField(body.json, format.threadIdField)',
        'only its id is read for a stranger',
      ],
      [
        'an inbox reads of a body only its viewer before it asks who sent it',
        'takePost',
        "readTextField(body.json, 'viewer')",
        'schema.parse(body.json).viewer',
        'only its viewer is read for a stranger',
      ],
      [
        'a list that is too long is refused before its items are read',
        'boundList',
        'value.length > most',
        'value.filter(Boolean).length > most',
        'are refused before one of them is read',
      ],
      [
        'of a list nothing is read behind its first fault',
        'boundList',
        'given.entries()',
        'value.map((each) => each).entries()',
        'nothing is read behind its fault',
      ],
      [
        'the text of a fault is cut',
        'cutFault',
        'text.length > longest',
        'longest < 0',
        'the text of a fault',
      ],
      [
        'a page sends few new messages at once',
        'withPageHistory',
        'refuseManyMessages(earlier);',
        '',
        'at most 1000 new messages',
      ],
      [
        'an AG-UI client sends few new messages at once',
        'listNewUserMessages',
        'refuseManyMessages(sent);',
        '',
        'at most 1000 new messages',
      ],
      [
        'the answers in a message of a page are few',
        'parseAnswersInParts',
        'answers.length <= mostAnswers',
        'answers.length >= 0',
        'at most 1000 answers',
      ],
    ] as const
  ).map(([promise, within, from, to, sentence]): SourceMutant => ({
    promise,
    within,
    from,
    to,
    suite: ['http/before-sign-in', sentence],
    sentence: failed,
  })),
  {
    promise: 'whoever may use one thread gets at no other',
    within: 'receivePost',
    from: 'parsed.threadId !== threadId',
    to: 'threadId === undefined',
    suite: [ownRoute, 'gets at no other'],
    sentence: failed,
  },
  {
    promise: 'a gate takes few messages in one request',
    within: 'HttpGate.handle',
    from: 'parsedBody.length > mostMessages',
    to: 'parsedBody.length < 0',
    suite: ['gate/http', 'more messages than a client sends at once'],
    sentence: /ZodError/,
  },
];
