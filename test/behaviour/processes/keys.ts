/** Keys that the processes and their clients share. */

/** Used by clients to sign, whichever process they call. */
export const ORIGIN = 'http://api.example.com'
export const SECRET: Buffer = Buffer.alloc(32, 'a secret of tests')
export const KEYS: Readonly<Record<string, Buffer>> = { k1: SECRET }
