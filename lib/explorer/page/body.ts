/** What a form sends. */

/** JSON as a text, the bytes of a file, or a form of the web with a file in it. */
export type Body = string | File | FormData
