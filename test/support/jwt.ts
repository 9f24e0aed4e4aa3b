const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Returns a text that decodes to the same bytes: two of the six bits of its last character are not used. */
const withSpareBits = (part: string) => part.slice(0, -1) + ALPHABET[ALPHABET.indexOf(part.at(-1)!) + 1];

/** Returns non-canonical encodings of a JWT that lenient decoders accept, by a description of the difference. */
export function toNonCanonicalTokens(token: string): Record<string, string> {
  const [header, payload, signature] = token.split('.') as [string, string, string];
  return {
    'padding of the signature': `${token}=`,
    'too much padding': `${token}==`,
    'padding of the payload': `${header}.${payload}=.${signature}`,
    'spare bits in the signature': `${header}.${payload}.${withSpareBits(signature)}`,
    'white space at the end': `${token} `,
    'a line break within': `${header}.${payload}.${signature.slice(0, 9)}\n${signature.slice(9)}`,
    'a tab before': `\t${token}`,
    'the alphabet of base64': `${header}.${payload}.${signature}`.replaceAll('-', '+').replaceAll('_', '/').concat('='),
    'a character more': `${token}A`,
    'a dot more': `${token}.`,
    'a part more': `${token}.${signature}`,
  };
}
