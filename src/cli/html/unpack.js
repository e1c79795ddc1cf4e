/* Unpacks blocks of the page: base64 of gzip. Workers unpack large ones while the browser reads the
 * rest of the page. A block leaves the page when it is unpacked. */
'use strict';

/* ---- Unpacking; workers run this code as well ---- */

/* Older browsers do not have Uint8Array.fromBase64(). */
function bytesOfBase64(text) {
    if (Uint8Array.fromBase64)
        return Uint8Array.fromBase64(text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < bytes.length; i++)
        bytes[i] = binary.charCodeAt(i);
    return bytes;
}

async function unpack(text) {
    const packed = new Response(bytesOfBase64(text)).body;
    const unpacked = packed.pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

/* Answers each text with its bytes, or with null if it cannot be unpacked. */
function serve() {
    self.onmessage = async ({data, ports: [port]}) => {
        const bytes = await unpack(data).catch(() => null);
        port.postMessage(bytes, bytes ? [bytes.buffer] : []);
    };
}

/* ---- Workers ---- */

class Unpackers {
    workers = [];
    asked = 0;

    /* Returns the bytes of a text. A worker that does not start, or cannot unpack it, leaves the
     * text to this thread, which tells what is wrong. */
    async unpack(text) {
        return await this.ask(text) ?? unpack(text);
    }

    ask(text) {
        const worker = this.nextWorker();
        const {port1, port2} = new MessageChannel();
        return worker && new Promise((resolve) => {
            port1.onmessage = ({data}) => resolve(data);
            worker.addEventListener('error', () => resolve(null));
            worker.postMessage(text, [port2]);
        });
    }

    /* Returns the worker whose turn it is; null: there are none. */
    nextWorker() {
        const place = this.asked++ % Math.min(4, navigator.hardwareConcurrency || 2);
        return this.workers[place] ??= this.makeWorker();
    }

    makeWorker() {
        const code = `${[bytesOfBase64, unpack, serve].join('\n')}\nserve();`;
        const address = URL.createObjectURL(new Blob([code], {type: 'text/javascript'}));
        try {
            return new Worker(address);
        } catch {
            return null;
        }
    }

    /* Call after the last answer. */
    close() {
        this.workers.forEach((worker) => worker?.terminate());
    }
}

/* ---- Blocks ---- */

/* Waits until the browser has read more of the page. */
function readMore() {
    return new Promise((resolve) => {
        const observer = new MutationObserver(() => {
            observer.disconnect();
            resolve();
        });
        observer.observe(document.body, {childList: true});
        document.addEventListener('DOMContentLoaded', resolve, {once: true});
    });
}

/* Returns a block after the browser has read all of it; null if the page has no such block. */
async function findBlock(id) {
    while (document.readyState === 'loading' && !byId(id)?.nextElementSibling)
        await readMore();
    return byId(id);
}

/* Unpacks a block, and takes it out of the page. */
async function unpackBlock(block, unpackText = unpack) {
    const text = block.textContent.trim();
    block.remove();
    try {
        return await unpackText(text);
    } catch (error) {
        throw new Error('they are damaged, or end too early', {cause: error});
    }
}

/* Unpacks the block with this id, and those that go on with "-2" and so on. A single one is small,
 * and is unpacked sooner than a worker starts. */
async function unpackBlocks(id) {
    const unpackers = new Unpackers();
    const unpacked = [];
    for (let block = await findBlock(id), next; block; block = next) {
        next = await findBlock(`${id}-${unpacked.length + 2}`);
        unpacked.push(unpackBlock(block, next || unpacked.length ?
            (text) => unpackers.unpack(text) : unpack));
    }
    try {
        return await Promise.all(unpacked);
    } finally {
        unpackers.close();
    }
}

/* Reads a block of packed JSON. */
async function readJson(id) {
    return JSON.parse(new TextDecoder().decode(await unpackBlock(byId(id))));
}
