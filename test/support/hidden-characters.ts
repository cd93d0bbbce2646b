/** Matches what must not be shown as it is, where nothing gives it a meaning. */
export const hiddenByDefault =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u;

/** The characters from one code up to another that are hidden and left as they are, or can be seen and are not. */
export function findWronglyShown(
  inert: (text: string) => string,
  from: number,
  to: number,
): string[] {
  return Array.from({ length: to - from }, (_, index) => String.fromCodePoint(from + index))
    .filter((character) => !'\n\t\\'.includes(character))
    .filter((character) => (inert(character) === character) === hiddenByDefault.test(character));
}
