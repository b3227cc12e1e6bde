/** A string that is JSON already, and is spliced into the envelope without being parsed. */

/**
 * JSON text made elsewhere (by a database, a cache), passed on as it is. It is trusted: what is
 * not JSON in here makes an answer that is not JSON.
 *
 *     get_report() { return new RawJson('{"a":1}') }
 *     200 {"success":true,"data":{"a":1}}
 */
export class RawJson {
	/** The JSON text. */
	readonly text: string

	constructor(text: string) {
		this.text = text
	}

	/** The parsed value, a new one at each call. */
	value(): unknown {
		return JSON.parse(this.text)
	}
}
