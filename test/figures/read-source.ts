import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/* What the functions of `src` begin with that is a verb. A word that is a noun too, as in `call`, counts as one. */
const verbs =
  'accept|acknowledge|act|add|adopt|advise|agree|allow|alter|announce|answer|append|apply|approve|are|ask|assert|assign|audit|await|be|begin|bind|book|bound|break|broadcast|build|bundle|call|can|cancel|canonicalize|carry|change|check|choose|claim|clear|close|collect|combine|come|commit|compare|complete|compute|confirm|connect|consume|contain|continue|convert|copy|count|create|cut|decide|declare|decode|define|delay|delegate|delete|deliver|deny|derive|describe|destroy|detect|did|digest|discard|dispatch|dispose|do|does|drain|draw|drop|echo|edit|emit|encode|end|ensure|enter|escape|evaluate|exclude|execute|expand|expect|expire|explain|export|extend|extract|fail|fetch|fill|filter|find|finish|fit|fold|follow|forget|format|forward|freeze|gather|generate|get|give|go|group|guard|handle|has|have|heal|hide|hold|identify|ignore|import|indent|infer|insert|invalidate|invoke|is|join|keep|know|lead|leave|let|lift|limit|link|list|listen|load|lock|log|look|make|map|mark|mask|match|may|measure|meet|merge|migrate|move|must|name|narrow|needs|normalize|note|notify|observe|offer|omit|open|order|pad|paint|parse|pass|pause|pay|pick|plan|play|poll|post|prepare|present|press|print|produce|project|prove|publish|pull|push|put|queue|quote|race|read|reassign|rebuild|receive|recheck|recognize|reconcile|record|recover|redact|reduce|refuse|register|reject|release|reload|remember|remind|remove|render|reopen|repair|repeat|replace|replay|reply|report|request|require|reserve|reset|resolve|respond|restart|restore|resume|retract|retry|return|reveal|review|revive|revoke|rewrite|rotate|round|run|save|say|says|scan|schedule|search|see|select|send|separate|serialize|serve|set|settle|share|should|show|sign|skip|sort|spell|split|stand|start|stay|stop|store|stream|stringify|strip|submit|subscribe|sum|suspend|take|talk|tell|test|throw|toggle|trace|track|translate|trim|truncate|try|turn|unwrap|update|use|validate|verify|visit|vote|wait|wake|walk|warn|was|watch|weigh|will|withdraw|with|wrap|write|yield|to'.split(
    '|',
  );

/** The figures of the files of `src`. */
export function readSource() {
  const texts = globSync('src/**/*.ts', { cwd: root }).map((file) =>
    readFileSync(join(root, file), 'utf8'),
  );
  const names = texts.flatMap((text) =>
    [...text.matchAll(/^ *(?:export )?(?:default )?(?:async )?function\*? (\w+)/gm)].map(
      ([, name = '']) => name,
    ),
  );
  return {
    files: texts.length,
    codeLines: texts.reduce((sum, text) => sum + countCode(text), 0),
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
  return (verbs.includes(word) || verbs.includes(word.replace(/s$/, ''))) && !/[a-z]Of$/.test(name);
}
