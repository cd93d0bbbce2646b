import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError/;
const ownRoute = 'http/post-handler';

/** What a route lets in: whose page, which form, which options. */
export const routeMutants: readonly SourceMutant[] = [
  {
    promise: 'a page of another site can use no route',
    file: 'http/receive-request.ts',
    from: 'if (foreign !== undefined) return foreign;',
    to: '',
    suite: [ownRoute, 'a page of another site, in which Ada is signed in'],
    sentence: failed,
  },
  {
    promise: 'a form of another site can send no body that a route takes',
    file: 'http/read-json-body.ts',
    from: 'sent.trim().toLowerCase() !== type',
    to: "type === 'nothing'",
    suite: [ownRoute, 'refuses a text'],
    sentence: failed,
  },
  {
    promise: 'whom a route of your own does not know calls nothing',
    file: 'http/receive-request.ts',
    from: 'if (caller instanceof Response) return caller;',
    to: "if (caller instanceof Response) return { parsed, runOptions: { principal: 'x', channel: 'x' }, disconnected: new AbortController() };",
    suite: [ownRoute, 'refuses a stranger'],
    sentence: failed,
  },
  {
    promise: 'a body that does not fit its schema calls nothing',
    file: 'http/create-post-handler.ts',
    from: 'if (error === undefined) return data;',
    to: 'if (error !== null) return data ?? json;',
    suite: [ownRoute, 'a body without a thread'],
    sentence: failed,
  },
  {
    promise: 'the agent of a route of your own says who a principal is',
    file: 'http/create-post-handler.ts',
    from: '{ ...options, agent }',
    to: '{ ...options, agent: {} }',
    suite: [ownRoute, 'the agent says who a principal is'],
    sentence: failed,
  },
  {
    promise: 'a route of your own takes POST alone',
    file: 'http/create-post-handler.ts',
    from: "request.method !== 'POST'",
    to: "request.method === 'GET'",
    suite: [ownRoute, 'another method'],
    sentence: failed,
  },
  {
    promise: 'a misspelled option is refused',
    file: 'content/check-settings.ts',
    from: 'value === undefined || Object.hasOwn(known, name)',
    to: 'value !== null',
    suite: ['http/misspelled-options', 'is refused by its name'],
    sentence: failed,
  },
  ...(
    [
      ['createUiHandler', 'channels/ui/create-ui-handler.ts', 'uiHandlerSettings'],
      ['createAgUiHandler', 'channels/ag-ui/create-ag-ui-handler.ts', 'agUiHandlerSettings'],
      [
        'createCallbackHandler',
        'channels/rap/create-callback-handler.ts',
        'callbackHandlerSettings',
      ],
      ['createToolServer', 'channels/rap/tool-server/create-tool-server.ts', 'toolServerSettings'],
      ['remoteTool', 'channels/rap/remote-tool.ts', 'remoteToolSettings'],
      ['createPostHandler', 'http/create-post-handler.ts', 'settings'],
    ] as const
  ).map(([name, file, settings]): SourceMutant => ({
    promise: `a misspelled option of ${name} is refused`,
    file,
    from: `refuseUnknown('${name}', options, ${settings});`,
    to: '',
    suite: ['http/misspelled-options', `a misspelled option of ${name} is refused`],
    sentence: failed,
  })),
  {
    promise: 'a page of the same host that came over http is one of another site',
    file: 'http/receive-request.ts',
    from: "site === 'cross-site' || origin === undefined",
    to: 'origin === undefined',
    suite: ['ui/origin', 'is refused before anything is read'],
    sentence: /AssertionError/,
  },
];
