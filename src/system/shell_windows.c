/* shell_windows.c - finds a bash of Git or MSYS, else PowerShell. */
#include "system/system_in.h"

#if defined(PHI__OS_WINDOWS) && !defined(PHI_NO_PROCESS)

#include "io/windows_in.h"

#if defined(_MSC_VER)
#pragma comment(lib, "advapi32.lib")
#endif

enum {
    PHI__SHELL_WIDE = 1024,      /* most units of a program's path */
    PHI__SHELL_VARIABLE = 32768, /* most units of a variable */
    PHI__SHELL_BIN_LEVELS = 2    /* Git's own folder has git.exe in cmd, bin or mingw64\bin */
};

static bool phi__shell_slash(wchar_t unit) { return unit == L'\\' || unit == L'/'; }

/* Takes folder\name, if there is such a file. */
static bool phi__shell_take(phi__shell_program *out, const wchar_t *folder, size_t len,
                            const wchar_t *name) {
    wchar_t path[PHI__SHELL_WIDE];
    size_t more = wcslen(name);
    while (len > 0 && phi__shell_slash(folder[len - 1])) len--;
    /* a relative folder would depend on the working directory */
    bool absolute = len >= 2 && (folder[1] == L':' ||
                                 (phi__shell_slash(folder[0]) && phi__shell_slash(folder[1])));
    if (!absolute || len + more + 2 > PHI__SHELL_WIDE) return false;
    memcpy(path, folder, len * sizeof *path);
    path[len] = L'\\';
    memcpy(path + len + 1, name, (more + 1) * sizeof *path);
    DWORD attributes = GetFileAttributesW(path);
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0 &&
           phi__narrow(path, len + 1 + more, out->path, sizeof out->path) != SIZE_MAX;
}

/* Takes a program below the folder that a variable names. */
static bool phi__shell_below(phi__shell_program *out, const wchar_t *variable,
                             const wchar_t *name) {
    wchar_t folder[PHI__SHELL_WIDE];
    DWORD n = GetEnvironmentVariableW(variable, folder, PHI__SHELL_WIDE);
    return n > 0 && n < PHI__SHELL_WIDE && phi__shell_take(out, folder, n, name);
}

static bool phi__shell_registered(phi__shell_program *out) {
    static const DWORD views[] = {RRF_SUBKEY_WOW6464KEY, RRF_SUBKEY_WOW6432KEY};
    HKEY const roots[] = {HKEY_LOCAL_MACHINE, HKEY_CURRENT_USER};
    for (size_t i = 0; i < PHI__COUNT(roots) * PHI__COUNT(views); i++) {
        wchar_t folder[PHI__SHELL_WIDE];
        DWORD bytes = (DWORD)sizeof folder;
        if (RegGetValueW(roots[i / 2], L"SOFTWARE\\GitForWindows", L"InstallPath",
                         RRF_RT_REG_SZ | views[i % 2], NULL, folder, &bytes) == ERROR_SUCCESS &&
            phi__shell_take(out, folder, wcslen(folder), L"bin\\bash.exe"))
            return true;
    }
    return false;
}

/* Takes the bash of the Git whose git.exe is in the folder. */
static bool phi__shell_of_git(phi__shell_program *out, const wchar_t *folder, size_t len) {
    if (!phi__shell_take(out, folder, len, L"git.exe")) return false;
    for (int i = 0; i < PHI__SHELL_BIN_LEVELS; i++) {
        while (len > 0 && phi__shell_slash(folder[len - 1])) len--;
        while (len > 0 && !phi__shell_slash(folder[len - 1])) len--;
        if (phi__shell_take(out, folder, len, L"bin\\bash.exe")) return true;
    }
    return false;
}

/* Takes a bash.exe in the folder. Those of Windows itself run Linux, with other paths. */
static bool phi__shell_of_msys(phi__shell_program *out, const wchar_t *folder, size_t len) {
    static const wchar_t store[] = L"\\WindowsApps";
    wchar_t system[MAX_PATH];
    size_t n = GetWindowsDirectoryW(system, MAX_PATH);
    if (n == 0 || n >= MAX_PATH) return false;
    if (len >= n && CompareStringOrdinal(folder, (int)n, system, (int)n, TRUE) == CSTR_EQUAL)
        return false;
    n = PHI__COUNT(store) - 1;
    for (size_t i = 0; i + n <= len; i++)
        if (CompareStringOrdinal(folder + i, (int)n, store, (int)n, TRUE) == CSTR_EQUAL)
            return false;
    return phi__shell_take(out, folder, len, L"bash.exe");
}

static bool phi__shell_of_pwsh(phi__shell_program *out, const wchar_t *folder, size_t len) {
    return phi__shell_take(out, folder, len, L"pwsh.exe");
}

/* Calls `take` for each folder of PATH until it has taken a program. */
static bool phi__shell_in_path(phi__shell_program *out,
                               bool (*take)(phi__shell_program *out, const wchar_t *folder,
                                            size_t len)) {
    wchar_t list[PHI__SHELL_VARIABLE];
    DWORD n = GetEnvironmentVariableW(L"PATH", list, PHI__SHELL_VARIABLE);
    if (n == 0 || n >= PHI__SHELL_VARIABLE) return false;
    for (const wchar_t *at = list;; at++) {
        size_t len = wcscspn(at, L";");
        if (len > 0 && take(out, at, len)) return true;
        at += len;
        if (*at == L'\0') return false;
    }
}

static bool phi__shell_bash(phi__shell_program *out) {
    return phi__shell_registered(out) ||
           phi__shell_below(out, L"ProgramFiles", L"Git\\bin\\bash.exe") ||
           phi__shell_below(out, L"ProgramW6432", L"Git\\bin\\bash.exe") ||
           phi__shell_below(out, L"ProgramFiles(x86)", L"Git\\bin\\bash.exe") ||
           phi__shell_below(out, L"LocalAppData", L"Programs\\Git\\bin\\bash.exe") ||
           phi__shell_in_path(out, phi__shell_of_git) ||
           phi__shell_in_path(out, phi__shell_of_msys) ||
           phi__shell_below(out, L"SystemDrive", L"msys64\\usr\\bin\\bash.exe");
}

PHI__FN void phi__shell_find(phi__shell_program *out) {
    wchar_t system[MAX_PATH];
    memset(out, 0, sizeof *out);
    out->quotes = phi__shell_bash(out);
    if (out->quotes) return;
    out->powershell = true;
    if (phi__shell_in_path(out, phi__shell_of_pwsh) ||
        phi__shell_below(out, L"ProgramFiles", L"PowerShell\\7\\pwsh.exe"))
        return;
    UINT n = GetSystemDirectoryW(system, MAX_PATH);
    if (n > 0 && n < MAX_PATH &&
        phi__shell_take(out, system, n, L"WindowsPowerShell\\v1.0\\powershell.exe"))
        return;
    memcpy(out->path, "powershell.exe", sizeof "powershell.exe");
}

#endif
