/**
 * Hand-written validation for frameworks without their own (express, hono, koa, restana): checks an article and copies the
 * known fields. Returns `undefined` for an invalid body.
 */
const EMAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/

export function checkArticle(body) {
	if (typeof body !== 'object' || body === null) return undefined
	const { title, email, age, tags, text, items } = body
	if (typeof title !== 'string' || title.length < 1 || title.length > 200) return undefined
	if (typeof email !== 'string' || email.length > 254 || !EMAIL.test(email)) return undefined
	if (!Number.isInteger(age) || age < 0 || age > 150) return undefined
	if (!Array.isArray(tags) || tags.length > 20 || !tags.every(isTag)) return undefined
	if (text === undefined && items === undefined) return { title, email, age, tags }
	if (typeof text !== 'string' || text.length > 10_000) return undefined
	if (!Array.isArray(items) || items.length > 200) return undefined
	const copies = items.map(copyItem)
	return copies.includes(undefined) ? undefined : { title, email, age, tags, text, items: copies }
}

function isTag(tag) {
	return typeof tag === 'string' && tag.length >= 1 && tag.length <= 30
}

function copyItem(item) {
	if (typeof item !== 'object' || item === null) return undefined
	const { sku, count } = item
	if (typeof sku !== 'string' || sku.length < 1 || sku.length > 20) return undefined
	return Number.isInteger(count) && count >= 0 && count <= 1_000 ? { sku, count } : undefined
}
