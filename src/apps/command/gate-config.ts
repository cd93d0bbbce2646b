import { readFile } from 'node:fs/promises';
import { dirname, extname, isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { renderSchemaError } from '../../json/field-fault.ts';
import type { MayAnswer } from '../../agent.ts';
import type { GateOptions } from '../gate.ts';
import { hashText } from '../../content/crypto.ts';
import { parseJson } from '../../json/json-value.ts';
import { whyNotStrictJson } from '../../json/strict-json.ts';
import { findUnkeepable, makeGateRules, makeMayAnswer } from './gate-rules.ts';
import { type GateFile, gateFileSchema, gateNameSchema } from './gate-schema.ts';
import { findRepeatedKey } from './json-option.ts';
import { readRulesFile } from './rules-file.ts';
import type { CommandWorld } from './run-command.ts';

/** The settings of a gate that don't come from the command. */
export type GateConfig = Pick<
  GateOptions,
  'upstreams' | 'toolApproval' | 'mayAnswer' | 'principalId' | 'holdMs' | 'leaseMs'
> & { name: string };

const isFunction = (value: unknown): boolean => typeof value === 'function';
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/* Strict: a misspelt rule would have no effect. `createGate` checks the upstreams. */
const codeSchema = z.strictObject({
  name: gateNameSchema,
  upstreams: z.custom<GateOptions['upstreams']>(isObject, 'must be an object'),
  toolApproval: z
    .custom<NonNullable<GateOptions['toolApproval']>>(
      (value) => isObject(value) || isFunction(value),
    )
    .exactOptional(),
  mayAnswer: z.custom<NonNullable<GateOptions['mayAnswer']>>(isFunction).exactOptional(),
  principalId: z.custom<NonNullable<GateOptions['principalId']>>(isFunction).exactOptional(),
  holdMs: z.number().exactOptional(),
  leaseMs: z.number().exactOptional(),
});

/** The surroundings in which a file is read. */
interface ConfigWorld {
  /** The source of its variables. Without it, they stay as they are written, and none has to be set. */
  env: CommandWorld['env'] | undefined;
}

/** Reads the file of a gate: JSON, or code with rules of the app. Throws for one that is not valid, with its name and the place. */
export async function readGateConfig(path: string, { env }: ConfigWorld): Promise<GateConfig> {
  if (extname(path) !== '.json')
    return readRulesFile(path, codeSchema, '{ name, upstreams, toolApproval }');
  const file = parseGateFile(path, await readFile(path, 'utf8'));
  const folder = dirname(resolve(path));
  return {
    name: file.name,
    upstreams: Object.fromEntries(
      Object.entries(file.servers).map(([name, server]) => [
        name,
        fillServer(server, { folder, env, place: `${path}: servers.${name}` }),
      ]),
    ),
    ...makeGateRules(file),
    ...(file.holdMs !== undefined && { holdMs: file.holdMs }),
  };
}

/** The rule of a JSON file of a gate about who may answer. */
export async function readGatePeople(path: string): Promise<MayAnswer> {
  const { people = {} } = parseGateFile(path, await readFile(path, 'utf8'));
  return makeMayAnswer(people);
}

function parseGateFile(path: string, content: string): GateFile {
  /* Some editors put a byte order mark in front. */
  const text = content.replace(/^\u{feff}/u, '');
  const json = parseJson(text);
  if (json === undefined) throw new Error(`${path} is not JSON.`);
  const repeated = findRepeatedKey(text);
  if (repeated !== undefined)
    throw new Error(`${path} has the key ${JSON.stringify(repeated)} twice in one object.`);
  /* A key `__proto__`, which the schema would leave out, or a number that was rounded: the rule would be a different one. */
  const fault = whyNotStrictJson(json);
  if (fault !== undefined) throw new Error(`${path} is not strict JSON: ${fault}.`);
  const parsed = gateFileSchema.safeParse(json);
  if (!parsed.success)
    throw new Error(`${path} is not the file of a gate:\n${renderSchemaError(parsed.error)}`);
  const unkeepable = findUnkeepable(parsed.data);
  if (unkeepable !== undefined) throw new Error(`${path}: ${unkeepable}`);
  return parsed.data;
}

function fillServer(
  server: GateFile['servers'][string],
  { folder, env, place }: ConfigWorld & { folder: string; place: string },
): GateOptions['upstreams'][string] {
  const fill = (field: string, values: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        env === undefined ? value : fillVariables(value, env, `${place}.${field}.${name}`),
      ]),
    );
  if ('url' in server) return { ...server, headers: fill('headers', server.headers) };
  const cwd = server.cwd === undefined ? undefined : resolve(folder, server.cwd);
  return { ...server, cwd, env: fill('env', server.env) };
}

function fillVariables(text: string, env: CommandWorld['env'], place: string): string {
  return text.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, (_all, name: string) => {
    const value = env[name];
    if (value !== undefined) return value;
    throw new Error(`${place} names the variable ${name}, which the environment does not have.`);
  });
}

/** A gate in front of one command that is started in this folder. Each call asks. */
export async function makeCommandConfig(
  words: readonly string[],
  inheritEnv: readonly string[],
  folder: string,
): Promise<GateConfig> {
  const [command = '', ...args] = words;
  return {
    name: 'gate',
    upstreams: { [await nameServer(words, folder)]: { command, args, inheritEnv } },
    mayAnswer: makeMayAnswer({}),
  };
}

/*
 * People accept tools of a server by its name: another command is another server. So is the same one in another folder, where it may start
 * another program: by a relative path, as a package of the project, as one of its scripts.
 */
async function nameServer(words: readonly string[], folder: string): Promise<string> {
  const isSameAnywhere = words.every((word) => isAbsolute(word) || /^(-\w|--[\w-]+)$/.test(word));
  const started = isSameAnywhere ? words : [folder, words];
  const digest = await hashText(`holdpoint/gate-command/v1\0${JSON.stringify(started)}`);
  const hash = digest
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, 8);
  const [program = '', ...args] = words;
  const rest = args.filter((word) => !word.startsWith('-'));
  const named = [program.replace(/^.*[/\\]/, ''), ...rest].map(findWord);
  return `${named.find((word) => word !== '') ?? 'server'}-${hash}`;
}

/* Words that many commands have, and that say nothing about the server. */
const commonWord =
  /^(npx|bunx|pnpm|dlx|uvx|uv|run|exec|node|bun|deno|python[\d.]*|docker|node-modules|build|dist|lib|index|main|src|bin)$/;

/** The word at the end of a path, a package's or a program's name that identifies a server; empty if there is none. */
function findWord(text: string): string {
  const parts = text.toLowerCase().split(/[/\\]/);
  const words = parts.map((part) =>
    part
      .replace(/(?<=.)@.*$/, '')
      .replace(/\.[cm]?[jt]s$|\.py$|\.exe$/, '')
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^[^a-z]+|-+$/g, ''),
  );
  const word = words.findLast((each) => each !== '' && !commonWord.test(each)) ?? '';
  return word.slice(0, 20).replace(/-+$/, '');
}
