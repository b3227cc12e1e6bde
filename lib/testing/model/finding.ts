/** The model contract: which records a condition finds. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { Condition } from '../../models/model.ts'
import type { ModelStage } from './stage.ts'

/** Asserts which titles are found; `ids` are also read with the condition. */
export async function finding(
	stage: ModelStage,
	where: Condition,
	titles: readonly string[],
	message?: string,
	ids: readonly string[] = [],
): Promise<void> {
	const found = (await stage.column({ where })).map(String)
	deepStrictEqual(found.toSorted(), titles.toSorted(), message)
	strictEqual(await stage.model.count(where), titles.length, message)
	for (const id of ids) {
		const read = await stage.model.read(id, stage.select(['title']), where)
		strictEqual(read !== undefined, titles.length > 0, message)
	}
}

/** The opposite of a condition, where that is known. */
export function not(term: Condition): Condition {
	return { op: 'not', term }
}
