import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/* What the functions of `src` begin with that is a verb or asks, as `why` does. A word that is a noun too, as in `call`, counts as one. */
const verbs =
  'abort|accept|acknowledge|act|add|adopt|advise|agree|allow|alter|announce|answer|append|apply|approve|are|ask|assert|assign|assume|audit|authorize|await|be|begin|belong|bind|book|bound|break|broadcast|build|bundle|call|can|cancel|canonicalize|carry|change|check|choose|claim|classify|clear|close|collect|combine|come|commit|compare|compile|complete|compute|confirm|connect|consume|contain|continue|convert|copy|count|cover|create|cut|decide|declare|decode|define|delay|delegate|delete|deliver|deny|derive|describe|destroy|detect|did|digest|discard|dismiss|dispatch|dispose|do|does|draft|drain|draw|drop|echo|edit|emit|encode|end|ensure|enter|escape|evaluate|exclude|execute|expand|expect|expire|explain|export|extend|extract|fail|fetch|fill|filter|find|finish|fit|fold|follow|forbid|forget|format|forward|freeze|gather|generate|get|give|go|group|guard|handle|has|hash|have|heal|hide|hold|identify|ignore|import|indent|infer|insert|interrupt|invalidate|invoke|is|join|keep|know|label|lead|leave|let|lift|limit|link|list|listen|load|locate|lock|log|look|make|map|mark|mask|match|may|measure|meet|merge|migrate|move|must|name|narrow|needs|normalize|note|notify|number|observe|offer|omit|open|order|pad|paint|parse|pass|pause|pay|pick|plan|play|poll|post|prepare|present|press|print|produce|project|prove|publish|pull|push|put|queue|quote|race|rank|read|reassign|rebuild|receive|recheck|recognize|reconcile|record|recover|redact|reduce|refuse|register|reject|release|reload|remember|remind|remove|render|reopen|repair|repeat|replace|replay|reply|report|request|require|reserve|reset|resolve|respond|restart|restore|resume|retract|retry|return|reveal|review|revive|revoke|rewrite|roll|rotate|round|run|save|say|says|scan|schedule|seal|search|see|select|send|separate|serialize|serve|set|settle|share|shorten|should|show|sign|skip|sort|spell|split|stand|start|stay|stop|store|stream|stringify|strip|submit|subscribe|sum|summarize|suspend|tag|take|talk|tell|test|throw|toggle|trace|track|translate|trim|truncate|try|turn|type|undo|unwrap|update|upgrade|use|validate|verify|visit|vote|wait|wake|walk|warn|was|watch|weigh|why|will|with|withdraw|wrap|write|yield|to'.split(
    '|',
  );

/** The figures of the files of `src`. */
export function readSource() {
  const sources = globSync('src/**/*.ts', { cwd: root }).map((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const [, room = '', name] = file.split('/');
    return { text, room: name === undefined ? 'src itself' : room, lines: countCode(text) };
  });
  const texts = sources.map(({ text }) => text);
  const rooms = [...Map.groupBy(sources, ({ room }) => room)].map(([room, files]) => ({
    room,
    lines: files.reduce((sum, { lines }) => sum + lines, 0),
  }));
  const names = texts.flatMap((text) =>
    [...text.matchAll(/^ *(?:export )?(?:default )?(?:async )?function\*? (\w+)/gm)].map(
      ([, name = '']) => name,
    ),
  );
  return {
    files: texts.length,
    codeLines: rooms.reduce((sum, { lines }) => sum + lines, 0),
    rooms: rooms.toSorted((one, other) => other.lines - one.lines),
    functions: names.length,
    endInOf: names.filter((name) => name.endsWith('Of')).length,
    withoutVerb: names.filter((name) => !beginsWithVerb(name)),
  };
}

/** The lines that are neither blank nor comments. A comment begins its line here, as the formatter has it. */
function countCode(text: string): number {
  const code = text.replaceAll(/^\s*\/\*.*?\*\/\s*$/gms, '').replaceAll(/^\s*\/\/.*$/gm, '');
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

function beginsWithVerb(name: string): boolean {
  const [word = ''] = /^[a-z]+/.exec(name) ?? [];
  const forms = [word, word.replace(/s$/, ''), word.replace(/es$/, ''), word.replace(/ies$/, 'y')];
  return forms.some((form) => verbs.includes(form)) && !/[a-z]Of$/.test(name);
}
