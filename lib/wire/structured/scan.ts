/** `Scan`: a text that is read from left to right, once, and the kinds of characters in it. */

export class Scan {
	readonly text: string
	/** Index of the next character. */
	at = 0

	constructor(text: string) {
		this.text = text
	}

	/** Code of the next character; NaN at the end. */
	code(): number {
		return this.text.charCodeAt(this.at)
	}

	get ended(): boolean {
		return this.at >= this.text.length
	}

	/** Says where and what; not what was found, as that is whatever a client has sent. */
	error(expected: string, at = this.at): SyntaxError {
		return new SyntaxError(`${expected} was expected at character ${at + 1}`)
	}
}

export function isDigit(code: number): boolean {
	return code >= 0x30 && code <= 0x39
}

export function isLowerAlpha(code: number): boolean {
	return code >= 0x61 && code <= 0x7a
}

export function isAlpha(code: number): boolean {
	return isLowerAlpha(code) || (code >= 0x41 && code <= 0x5a)
}

/** Which codes below 128 may stand in a token (RFC 9651 §3.3.4): those of RFC 9110 §5.6.2, `:` and `/`. */
const TOKEN: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
	/[!#$%&'*+.^`|~\w:/-]/.test(String.fromCharCode(code)),
)

export function isTokenCharacter(code: number): boolean {
	return TOKEN[code] === true
}
