/* SPDX-License-Identifier: MIT */
/* Embeds the files of the page in the order in which a browser reads them; see web.h. */
    .section .rodata
    .hidden web_before
    .globl web_before
    .type web_before, %object
web_before:
    .incbin "analyzer/web/head.html"
    .ascii "<style>\n"
    .incbin "dygraph.min.css"
    .incbin "analyzer/web/page.css"
    .ascii "</style>\n"
    .incbin "analyzer/web/body.html"
    .ascii "<script type=\"application/octet-stream\" id=\"document\">"
    .byte 0
    .hidden web_after
    .globl web_after
    .type web_after, %object
web_after:
    .ascii "</script>\n<script>\n"
    .incbin "dygraph.min.js"
    .ascii "\n</script>\n<script>\n'use strict';\n"
    .incbin "analyzer/web/words.js"
    .incbin "analyzer/web/series.js"
    .incbin "analyzer/web/change.js"
    .incbin "analyzer/web/tables.js"
    .incbin "analyzer/web/timeline.js"
    .incbin "analyzer/web/icicle.js"
    .incbin "analyzer/web/map.js"
    .incbin "analyzer/web/ledger.js"
    .incbin "analyzer/web/ranks.js"
    .incbin "analyzer/web/fleet.js"
    .incbin "analyzer/web/estimate.js"
    .incbin "analyzer/web/page.js"
    .ascii "</script>\n</body>\n</html>\n"
    .byte 0
    .section .note.GNU-stack, "", %progbits
