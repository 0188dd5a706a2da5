/* console.c - the terminal half of the command and the examples, with a console whose keys are written here.

   examples/typed_windows.h and examples/phi/phi_raw_windows.h, as phi.exe has them: lines that are edited, keys as the
   bytes of a terminal, the modes of the console, and those of before afterwards. */
#include "phi/phi_keys.h"

static int passed, failed;

static void check(bool good, const char *words) {
    if (good)
        passed++;
    else
        failed++, (void)printf("FAIL %s (typed: \"%.*s\")\n", words, (int)typed_keys.len,
                               typed_keys.bytes);
}

static void key(WORD code, WCHAR unit, DWORD state) {
    INPUT_RECORD events[2];
    DWORD n;
    memset(events, 0, sizeof events);
    events[0].EventType = KEY_EVENT;
    events[0].Event.KeyEvent.bKeyDown = TRUE;
    events[0].Event.KeyEvent.wRepeatCount = 1;
    events[0].Event.KeyEvent.wVirtualKeyCode = code;
    events[0].Event.KeyEvent.uChar.UnicodeChar = unit;
    events[0].Event.KeyEvent.dwControlKeyState = state;
    events[1] = events[0];
    events[1].Event.KeyEvent.bKeyDown = FALSE;
    (void)WriteConsoleInputW(typed_handle(0), events, 2, &n);
}

static void type(const WCHAR *units) {
    for (; *units != 0; units++) key(0, *units, 0);
}

static DWORD mode_of(int stream) {
    DWORD mode = 0;
    (void)GetConsoleMode(typed_handle(stream), &mode);
    return mode;
}

static void lines(void) {
    typed in = {{0}, 0, false};
    char line[64];
    (void)SetConsoleMode(typed_handle(0),
                         ENABLE_LINE_INPUT | ENABLE_ECHO_INPUT | ENABLE_PROCESSED_INPUT);
    check(typed_line(&in, line, sizeof line) == 0, "no line before a key");
    type(L"Gr\xF6\xDFx\b");
    check(typed_line(&in, line, sizeof line) == 0, "no line before Enter");
    type(L"e \x20AC \xD83D\xDE00\r");
    check(typed_line(&in, line, sizeof line) == 1 &&
              strcmp(line, "Gr\xC3\xB6\xC3\x9F"
                           "e \xE2\x82\xAC \xF0\x9F\x98\x80") == 0,
          "a line is edited, and UTF-8");
    type(L"\xE4\b\b\bb\rc\r");
    check(typed_line(&in, line, sizeof line) == 1 && strcmp(line, "b") == 0,
          "nothing is erased before a line");
    check(typed_line(&in, line, sizeof line) == 1 && strcmp(line, "c") == 0, "the next line");
    type(L"a\x1A\r\x1A");
    check(typed_line(&in, line, sizeof line) == 1 && strcmp(line, "a") == 0,
          "Ctrl+Z within a line is nothing");
    check(typed_line(&in, line, sizeof line) == -1, "Ctrl+Z before a line is the end");
    typed_keys.ended = false;
}

static int next(key_reader *k) {
    while (keys_read(k)) {}
    return keys_next(k);
}

static void keys(void) {
    static const struct {
        WORD code;
        WCHAR unit;
        DWORD state;
        int key;
    } known[] = {{VK_UP, 0, ENHANCED_KEY, KEY_UP},
                 {VK_DOWN, 0, ENHANCED_KEY, KEY_DOWN},
                 {VK_LEFT, 0, ENHANCED_KEY, KEY_LEFT},
                 {VK_RIGHT, 0, ENHANCED_KEY, KEY_RIGHT},
                 {VK_HOME, 0, ENHANCED_KEY, KEY_HOME},
                 {VK_END, 0, ENHANCED_KEY, KEY_END},
                 {VK_DELETE, 0, ENHANCED_KEY, KEY_DELETE},
                 {VK_BACK, L'\b', 0, KEY_BACKSPACE},
                 {VK_RETURN, L'\r', 0, KEY_ENTER},
                 {VK_RETURN, L'\r', LEFT_ALT_PRESSED, KEY_NEWLINE},
                 {'J', 10, LEFT_CTRL_PRESSED, KEY_NEWLINE},
                 {'C', 3, LEFT_CTRL_PRESSED, KEY_CTRL('C')},
                 {'A', L'\xE4', 0, KEY_TEXT},
                 {'Q', L'@', LEFT_CTRL_PRESSED | RIGHT_ALT_PRESSED, KEY_TEXT}}; /* AltGr */
    static key_reader k;
    char words[32];
    size_t i;
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        key(known[i].code, known[i].unit, known[i].state);
        (void)snprintf(words, sizeof words, "key %u", (unsigned)i);
        check(next(&k) == known[i].key && next(&k) == KEY_NONE, words);
    }
    check(strcmp(k.character, "@") == 0, "AltGr writes a character");
    key(VK_SHIFT, 0, SHIFT_PRESSED);
    check(next(&k) == KEY_NONE, "Shift alone is no key");
    key(VK_ESCAPE, 0, 0); /* as Wine has it */
    check(next(&k) == KEY_NONE, "Esc may begin a sequence");
    Sleep(KEYS_ESCAPE_MS * 2);
    check(next(&k) == KEY_ESCAPE, "Esc comes alone");
    type(L"\033[A\033[200~a\rb\033[201~"); /* as a console sends them that knows sequences */
    check(next(&k) == KEY_UP, "a sequence is a key");
    check(next(&k) == KEY_UNKNOWN && k.pasted, "a paste begins");
    check(next(&k) == KEY_TEXT && next(&k) == KEY_TEXT && strcmp(k.character, "\n") == 0,
          "its line ends are text");
    check(next(&k) == KEY_TEXT && next(&k) == KEY_UNKNOWN && !k.pasted, "a paste ends");
}

static void window(void) {
    INPUT_RECORD event;
    DWORD n;
    int columns, rows;
    memset(&event, 0, sizeof event);
    event.EventType = WINDOW_BUFFER_SIZE_EVENT;
    (void)WriteConsoleInputW(typed_handle(0), &event, 1, &n);
    check(!keys_waits(1000) && keys_resized == 2, "a new size ends a wait");
    check(!keys_waits(0), "once");
    keys_size(&columns, &rows);
    check(columns > 1 && rows > 1, "a window has a size");
}

int main(void) {
    DWORD in, out;
    UINT page;
    HANDLE screen;
    if (GetConsoleWindow() == NULL) (void)AllocConsole();
    (void)SetStdHandle(STD_INPUT_HANDLE,
                       CreateFileW(L"CONIN$", GENERIC_READ | GENERIC_WRITE,
                                   FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, 0));
    screen = CreateFileW(L"CONOUT$", GENERIC_READ | GENERIC_WRITE,
                         FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, 0);
    (void)SetStdHandle(STD_OUTPUT_HANDLE, screen);
    check(typed_is_terminal(0) && typed_is_terminal(1), "there is a console");
    if (failed == 0) {
        (void)FlushConsoleInputBuffer(typed_handle(0));
        lines();
        in = mode_of(0);
        out = mode_of(1);
        page = GetConsoleOutputCP();
        keys_catch_signals();
        check(GetConsoleOutputCP() == CP_UTF8, "text is UTF-8");
        check(keys_open(), "raw mode");
        check((mode_of(0) & (ENABLE_LINE_INPUT | ENABLE_ECHO_INPUT | ENABLE_PROCESSED_INPUT)) == 0,
              "raw input");
        check((mode_of(1) & ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0, "sequences on output");
        keys();
        window();
        key('X', L'x', 0);
        keys_restore();
        check(mode_of(0) == in && mode_of(1) == out, "the modes are those of before");
        check(GetConsoleOutputCP() == page, "so is the code page");
        check(!typed_waits(0), "what was typed is gone");
    }
    (void)printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
