import { writeFileSync } from 'node:fs';
import { asSchema, type ToolSet } from 'ai';

/*
 * Imports blocks of the docs, whose `createAgent` records what it got, and tries their rules: with each field missing that they read, and
 * with each missing in an earlier call. Writes down what is wrong with each block.
 */

/** What a block gives to an agent. */
interface Recorded {
  tools?: ToolSet;
  toolApproval?: unknown;
}

type Rule = (...parameters: unknown[]) => unknown;
type Values = Record<string, unknown>;

const recorded = new Map<string, Recorded[]>();

/* An agent that does nothing, for the rest of the block. */
const thread = { activeRequests: [], activeApprovalRequests: [], calls: [], decisions: [] };
const response = { text: '', approvalRequests: [], userInputRequests: [], thread };

Reflect.set(globalThis, 'recordAgent', (block: string, options: Recorded): unknown => {
  recorded.set(block, [...(recorded.get(block) ?? []), options]);
  return new Proxy(
    {},
    { get: (_target, name) => async () => (name === 'thread' ? thread : response) },
  );
});

const [output = '', ...files] = process.argv.slice(2);
for (const file of files) {
  /* What comes after the agent is made may fail. */
  const { default: exported } = await import(file).catch(() => ({}));
  if (typeof exported === 'object' && 'toolApproval' in exported) {
    recorded.set(file, [...(recorded.get(file) ?? []), exported]);
  }
}

process.once('beforeExit', () => void report());

async function report(): Promise<void> {
  const found = files.map(async (file) => {
    const rules = await Promise.all((recorded.get(file) ?? []).map(triedRules));
    return { file, rules: rules.flat() };
  });
  writeFileSync(output, JSON.stringify(await Promise.all(found)));
}

/** Tries each rule and text of an agent. For each, what is wrong with it. */
async function triedRules({ tools = {}, toolApproval }: Recorded): Promise<string[][]> {
  const named = Object.entries(tools).map(async ([name, tool]) => {
    const schema = await asSchema(tool.inputSchema).jsonSchema;
    const fields = Object.keys(schema.properties ?? {});
    const samples = [1, 1_000_000].map((size) => sampleOf(schema.properties ?? {}, size));
    const rules = [
      ...functionsIn(tool.needsApproval),
      ...functionsIn(typeof toolApproval === 'object' ? Reflect.get(toolApproval ?? {}, name) : []),
      ...functionsIn(typeof toolApproval === 'function' ? forTool(toolApproval, name) : []),
    ];
    return Promise.all(rules.map(async (rule) => faultsOf(rule, { name, fields, samples })));
  });
  return (await Promise.all(named)).flat();
}

/* Without reading the options. */
function forTool(rule: Function, toolName: string): Rule {
  return (input, options) => {
    const toolCall = { type: 'tool-call', toolCallId: 'c1', toolName, input };
    const all: unknown = Object.create(Object(options), { toolCall: { value: toolCall } });
    return Reflect.apply(rule, undefined, [all]);
  };
}

/** A setting that is a function, or the function that makes its text. */
function functionsIn(setting: unknown): { call: Rule; isText: boolean }[] {
  const isText = typeof setting === 'object' && setting !== null;
  const found: unknown = isText ? Reflect.get(setting, 'text') : setting;
  if (typeof found !== 'function') return [];
  return [{ call: (...parameters) => Reflect.apply(found, undefined, parameters), isText }];
}

function sampleOf(properties: object, size: number): Values {
  const entries = Object.entries(properties).map(([name, schema]): [string, unknown] => {
    const type: unknown = Reflect.get(Object(schema), 'type');
    if (type === 'number' || type === 'integer') return [name, size];
    if (type === 'boolean') return [name, size > 1];
    if (type === 'array') return [name, []];
    return [name, type === 'object' ? {} : 'x'.repeat(Math.min(size, 9))];
  });
  return Object.fromEntries(entries);
}

interface Subject {
  name: string;
  fields: readonly string[];
  samples: readonly Values[];
}

async function faultsOf(
  { call, isText }: { call: Rule; isText: boolean },
  { name, fields, samples }: Subject,
): Promise<string[]> {
  const tried = samples.map(async (sample): Promise<string[]> => {
    const reads = new Set<string>();
    await callRule(call, watched(sample, reads), watchedOptions([]).options);
    const foreign = [...reads].filter((field) => !fields.includes(field));
    const faults = foreign.map(
      (field) => `${name}: it reads ${field}, which the tool does not have`,
    );
    if (isText) return faults;
    for (const field of reads) {
      const { [field]: _missing, ...rest } = sample;
      const before = watchedOptions([{ toolName: name, status: 'succeeded', input: rest }]);
      const isRun = runs(await callRule(call, rest, watchedOptions([]).options));
      const isRunAfter = runs(await callRule(call, sample, before.options));
      if (isRun) faults.push(`${name}: it runs without ${field}`);
      if (isRunAfter && before.wasRead())
        faults.push(`${name}: it runs after a call without ${field}`);
    }
    return faults;
  });
  return [...new Set((await Promise.all(tried)).flat())];
}

function runs(status: unknown): boolean {
  const type: unknown = typeof status === 'object' ? Reflect.get(status ?? {}, 'type') : status;
  return type === undefined || type === false || type === 'approved' || type === 'not-applicable';
}

/* A rule that throws asks. */
async function callRule(call: Rule, input: Values, options: object): Promise<unknown> {
  try {
    return await call(input, options);
  } catch {
    return 'user-approval';
  }
}

function watched(input: Values, reads: Set<string>): Values {
  return new Proxy(input, {
    get: (target, name, receiver): unknown => {
      if (typeof name === 'string' && name !== 'then') reads.add(name);
      return Reflect.get(target, name, receiver);
    },
  });
}

function watchedOptions(calls: object[]): { options: object; wasRead: () => boolean } {
  let wasRead = false;
  const options = {
    toolCallId: 'c1',
    messages: [],
    runtimeContext: {},
    get calls() {
      wasRead = true;
      return calls;
    },
  };
  return { options, wasRead: () => wasRead };
}
