import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { locateMutant } from './locate-mutant.ts';

type Statement = ReturnType<typeof parseAst>['body'][number];

/** Something with a name at the top of a file, or a member of a class there, whose name is `Class.member`. */
interface Declaration {
  name: string;
  /** Relative to the folder of the source. */
  file: string;
  text: string;
  /** Where the text begins in the file. */
  start: number;
}

/** Where a piece of code stands. */
export interface Piece {
  file: string;
  start: number;
  end: number;
}

/** Finds pieces of code by the declaration that they are in, whatever its file. */
export class PieceFinder {
  readonly #declarations: ReadonlyMap<string, readonly Declaration[]>;

  constructor(folder: string) {
    const files = globSync('**/*.{ts,tsx}', { cwd: folder });
    const declarations = files.flatMap((file) => readDeclarations(folder, file));
    this.#declarations = Map.groupBy(declarations, ({ name }) => name);
  }

  /** `within` is a name, after its folder where others have that name too. It throws where the piece is not there exactly once. */
  find(within: string, code: string): Piece {
    const folder = within.slice(0, within.lastIndexOf('/') + 1);
    const named = this.#declarations.get(within.slice(folder.length)) ?? [];
    const declared = named.filter(({ file }) => file.startsWith(folder));
    if (declared.length === 0) throw new Error(`src declares no '${within}'.`);
    const pieces = declared.flatMap((declaration) => findPieces(declaration, code));
    const [piece] = pieces;
    if (piece === undefined) {
      throw new Error(`'${within}' in ${listFiles(declared)} has no '${code}'.`);
    }
    if (pieces.length > 1) {
      throw new Error(`'${within}' has '${code}' ${pieces.length} times, in ${listFiles(pieces)}.`);
    }
    return piece;
  }
}

function listFiles(places: readonly { file: string }[]): string {
  return [...new Set(places.map(({ file }) => `src/${file}`))].join(', ');
}

function findPieces({ file, text, start }: Declaration, code: string): Piece[] {
  const tokens = splitCode(text);
  const wanted = splitCode(code);
  return tokens.flatMap((first, nth) => {
    const last = tokens[nth + wanted.length - 1];
    const isThere = wanted.every(([token], index) => tokens[nth + index]?.[0] === token);
    if (!isThere || last === undefined) return [];
    return [{ file, start: start + first.index, end: start + last.index + last[0].length }];
  });
}

/* White space is left out, and the comma that the formatter writes behind the last of several lines. */
function splitCode(code: string): RegExpExecArray[] {
  return [...code.matchAll(/\w+|,(?!\s*[)\]}])|[^\s\w,]/g)];
}

function readDeclarations(folder: string, file: string): Declaration[] {
  const source = readFileSync(join(folder, file), 'utf8');
  const { body } = parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file);
  return body.flatMap(listNamed).map(({ name, start, end }) => {
    return { name, file, text: source.slice(start, end), start };
  });
}

function listNamed(statement: Statement): { name: string; start: number; end: number }[] {
  const { start, end } = statement;
  const declaration =
    statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration'
      ? statement.declaration
      : statement;
  if (declaration?.type === 'VariableDeclaration') {
    return declaration.declarations.flatMap(({ id }) =>
      id.type === 'Identifier' ? [{ name: id.name, start, end }] : [],
    );
  }
  const id = declaration !== null && 'id' in declaration ? declaration.id : undefined;
  if (id?.type !== 'Identifier' || declaration === null) return [];
  const { name } = id;
  if (declaration.type !== 'ClassDeclaration') return [{ name, start, end }];
  const members = declaration.body.body.flatMap((member) => {
    const key = 'key' in member ? member.key : undefined;
    const isPrivate = key?.type === 'PrivateIdentifier';
    if (!isPrivate && key?.type !== 'Identifier') return [];
    const named = `${name}.${isPrivate ? '#' : ''}${key.name}`;
    return [{ name: named, start: member.start, end: member.end }];
  });
  return [{ name, start, end }, ...members];
}

/** What is wrong with the pieces that are not in the source exactly once. */
export function findLostPieces(
  folder: string,
  pieces: readonly { promise: string; within: string; from: string }[],
): string[] {
  const finder = new PieceFinder(folder);
  return pieces.flatMap(({ promise, within, from }) => {
    try {
      finder.find(within, from);
      return [];
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      return [`${locateMutant(promise)}: ${promise}: ${fault}`];
    }
  });
}
