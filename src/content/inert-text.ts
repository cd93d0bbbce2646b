const hidden =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\\]|(?! )\p{Zs}/gu;

/**
 * Text that came from a model, a tool or a stranger, made safe to print: control, bidi and invisible
 * characters become `\u{…}`, a backslash becomes `\\`. Nothing is stripped, so different texts stay different.
 */
export function inertText(text: string): string {
  return text.replace(hidden, (character) =>
    character === '\\' ? '\\\\' : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
