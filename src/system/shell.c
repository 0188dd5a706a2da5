/* shell.c - how a shell gets the line that it runs, and the shell of POSIX. */
#include "system/system_in.h"

#ifndef PHI_NO_PROCESS

#if defined(PHI__OS_POSIX)
PHI__FN void phi__shell_find(phi__shell_program *out) {
    memset(out, 0, sizeof *out);
    memcpy(out->path, "bash", sizeof "bash");
}
#endif

/* Appends the line as "eval $'...'". A bash of Cygwin or MSYS reads its command line by rules of
   its own, in which quotes, backslashes and patterns have other meanings than in that of other
   programs. So all of these are written by their numbers. */
static void phi__shell_quote(phi__buf *text, const char *line) {
    phi__buf_text(text, "eval $'");
    for (; *line != '\0'; line++) {
        if (phi__is_alnum(*line) || strchr(" ./-_=:,+", *line) != NULL)
            phi__buf_char(text, *line);
        else
            phi__buf_printf(text, "\\x%02x", (unsigned)(unsigned char)*line);
    }
    phi__buf_text(text, "'");
}

/* Appends a UTF-8 text as UTF-16, with the lower byte first. */
static void phi__shell_utf16(phi__buf *out, phi_str text) {
    for (size_t i = 0; i < text.len;) {
        unsigned char c = (unsigned char)text.at[i++];
        uint32_t code = c < 0x80 ? c : c < 0xE0 ? c & 0x1Fu : c < 0xF0 ? c & 0x0Fu : c & 0x07u;
        for (; i < text.len && c >= 0x80 && ((unsigned char)text.at[i] & 0xC0) == 0x80; i++)
            code = code << 6 | ((unsigned char)text.at[i] & 0x3Fu);
        uint32_t units[2] = {code, 0};
        if (code >= 0x10000) {
            units[0] = 0xD800 + ((code - 0x10000) >> 10);
            units[1] = 0xDC00 + (code & 0x3FF);
        }
        for (int k = 0; k < (code >= 0x10000 ? 2 : 1); k++) {
            phi__buf_char(out, (char)(units[k] & 0xFF));
            phi__buf_char(out, (char)(units[k] >> 8 & 0xFF));
        }
    }
}

/* Appends the line for -EncodedCommand: base64 of UTF-16, so that nothing in it needs quotes. */
static void phi__shell_encode(phi__buf *text, const char *line) {
    /* PowerShell writes progress to stderr, and its output in the code page of the console. */
    static const char head[] = "$ProgressPreference='SilentlyContinue'\n"
                               "try{[Console]::OutputEncoding=New-Object "
                               "System.Text.UTF8Encoding $false}catch{}\n";
    /* Exits with the code of the last program. Two newlines: the line may end in a backtick. */
    static const char tail[] = "\n\nif(-not $?){if($LASTEXITCODE){exit $LASTEXITCODE};exit 1}\n";
    phi__buf script, wide;
    phi__buf_init(&script, text->memory);
    phi__buf_init(&wide, text->memory);
    phi__buf_text(&script, head);
    phi__utf8_repair(&script, phi_str_of(line));
    phi__buf_text(&script, tail);
    if (!script.failed) phi__shell_utf16(&wide, phi__buf_str(&script));
    if (!wide.failed) phi__base64_encode(text, wide.at, wide.len);
    text->failed = text->failed || script.failed || wide.failed;
    phi__buf_free(&script);
    phi__buf_free(&wide);
}

PHI__FN phi_status phi__shell_argv(const phi__shell_program *shell, const char *line,
                                   phi__buf *text, const char *argv[PHI__SHELL_ARGS]) {
    static const char *const powershell[] = {"-NoLogo",       "-NoProfile", "-NonInteractive",
                                             "-OutputFormat", "Text",       "-EncodedCommand"};
    size_t n = 0;
    argv[n++] = shell->path;
    if (shell->powershell)
        for (size_t i = 0; i < PHI__COUNT(powershell); i++) argv[n++] = powershell[i];
    else
        argv[n++] = "-c";
    argv[n] = line;
    if (shell->powershell)
        phi__shell_encode(text, line);
    else if (shell->quotes)
        phi__shell_quote(text, line);
    if (shell->powershell || shell->quotes) {
        phi__buf_char(text, '\0');
        argv[n] = text->at;
    }
    n++;
    if (text->failed) return PHI_NO_MEMORY;
    argv[n] = NULL;
    return PHI_OK;
}

#endif
