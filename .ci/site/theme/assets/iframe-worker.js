// The search runs in a worker, and browsers give none to a page that was opened from a disk.
// There it runs in a hidden frame instead. The theme knows such a frame by the name IFrameWorker.
if (location.protocol === "file:")
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      this.inside = frame.contentWindow
      this.ready = new Promise((resolve, reject) => {
        const script = this.inside.document.createElement("script")
        script.src = new URL(address, document.baseURI).href
        script.onload = resolve
        script.onerror = reject
        // what the script posts is for this page, and not for the frame
        this.inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
        this.inside.document.body.append(script)
      })
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })))
    }
  }
