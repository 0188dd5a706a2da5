/* modes.c - the rules of each mode: tables. */
#include "permissions/permissions.h"

#ifndef PHI_NO_PERMISSIONS

#include "base/base_in.h"

/* A rule on tools and files; on commands; and on commands with words that make them worse. */
#define PHI__MODES_TOOL(verdict, tool, path, reason)                                               \
    { PHI_PERMISSION_##verdict, tool, NULL, NULL, NULL, NULL, path, NULL, NULL, NULL, reason }
#define PHI__MODES_READS(command, without)                                                         \
    {                                                                                              \
        PHI_PERMISSION_ALLOW, "bash", command, NULL, without, NULL, "./**", NULL, NULL, NULL,      \
            "it only reads"                                                                        \
    }
#define PHI__MODES_PLAIN(command)                                                                  \
    {                                                                                              \
        PHI_PERMISSION_ALLOW, "bash", command, NULL, NULL, NULL, NULL, NULL, NULL, NULL,           \
            "it only prints"                                                                       \
    }
/* The same, where words that are not known may make it worse. */
#define PHI__MODES_KNOWN(command, without)                                                         \
    {                                                                                              \
        PHI_PERMISSION_ALLOW, "bash", command, NULL, without, NULL, NULL, NULL, NULL, NULL,        \
            "it only prints"                                                                       \
    }
#define PHI__MODES_DENY(command, with, without, piped, reason)                                     \
    { PHI_PERMISSION_DENY, NULL, command, with, without, piped, NULL, NULL, NULL, NULL, reason }

#define PHI__MODES_DENY_PATH(command, with, path, reason)                                          \
    { PHI_PERMISSION_DENY, NULL, command, with, NULL, NULL, path, NULL, NULL, NULL, reason }

#define PHI__MODES_SHELLS "sh|bash|dash|zsh|ksh|ash"
#define PHI__MODES_HOMES "~|~/|~/[*]|$HOME|$HOME/|$HOME/[*]|${HOME}|${HOME}/|${HOME}/[*]"
#define PHI__MODES_ROOTS                                                                           \
    "/|//|/.|/..|/[*]|/bin|/boot|/dev|/etc|/home|/lib|/lib64|/opt|/root|/sbin|/srv|/sys|/usr|"     \
    "/var|/bin/|/boot/|/dev/|/etc/|/home/|/lib/|/lib64/|/opt/|/root/|/sbin/|/srv/|/sys/|/usr/|"    \
    "/var/|" PHI__MODES_HOMES

/* Directories of the system in whatever spelling ("//", "/usr/local/.."); and those of people. */
#define PHI__MODES_SYSTEM_PATHS                                                                    \
    "/|/[*]|/.[*]|/bin|/boot|/dev|/etc|/home|/lib|/lib64|/opt|/root|/sbin|/srv|/sys|/usr|/var|"    \
    "/Users|/System|/Library|/Applications|/usr/*|/etc/[*]|/var/[*]|/home/[*]|/Users/[*]"
#define PHI__MODES_HOME_PATHS "/home/*|/Users/*|/home/*/[*]|/Users/*/[*]|~|~/[*]"
#define PHI__MODES_DISKS "/dev/sd*|/dev/hd*|/dev/vd*|/dev/nvme*|/dev/mmcblk*|/dev/disk/**"

/* Of the tools and commands that look at the workspace, and change nothing. */
#define PHI__MODES_READING                                                                         \
    PHI__MODES_TOOL(ALLOW, "read_file|list_files|search", "./**", "it only reads"),                \
        PHI__MODES_PLAIN("pwd|true|false|:|whoami|id|uname|date|uptime|hostname"),                 \
        PHI__MODES_PLAIN("echo|seq|sleep|basename|dirname *"), PHI__MODES_PLAIN("uname -*"),       \
        PHI__MODES_PLAIN("command -v|-V *"), PHI__MODES_PLAIN("which|type *"),                     \
        PHI__MODES_PLAIN("date +*"), PHI__MODES_PLAIN("git --version|version"),                    \
        PHI__MODES_PLAIN("node|npm|python|python3|go|gcc|clang|make|cmake --version"),             \
        PHI__MODES_PLAIN("exit *"), PHI__MODES_KNOWN("test|[[] *", "-v -R"),                       \
        PHI__MODES_READS("ls|cat|head|tail|wc|nl|tac|stat|du|diff|cmp|comm|cut|tr *", NULL),       \
        PHI__MODES_READS("rev|column|paste|fold|realpath|readlink|strings|od|hexdump *", NULL),    \
        PHI__MODES_READS("md5sum|sha1sum|sha256sum|sha512sum|cksum *", NULL),                      \
        PHI__MODES_READS("file *", "-C --c*"), PHI__MODES_READS("jq *", "*import* *include*"),     \
        PHI__MODES_READS("grep|egrep|fgrep *", NULL), PHI__MODES_READS("uniq", NULL),              \
        PHI__MODES_READS("uniq -c|-d|-u|-i", NULL), PHI__MODES_READS("cd [!-]*", NULL),            \
        PHI__MODES_READS("rg *", "--pre* --hostname-bin*"), PHI__MODES_READS("tree *", "-o -R"),   \
        PHI__MODES_READS("sort *", "-o --o* --co* -T --t* --fil*"),                                \
        PHI__MODES_READS("find *", "-delete -fprint* -fls -files0*"),                              \
        PHI__MODES_READS("git status|log|diff|show|blame|describe|shortlog|rev-parse *",           \
                         "--out* --ext* --textc*"),                                                \
        PHI__MODES_READS("git ls-files|ls-tree|rev-list|merge-base|cat-file *",                    \
                         "--out* --text* --filter*"),                                              \
        PHI__MODES_READS("git branch|tag|remote|reflog", NULL),                                    \
        PHI__MODES_READS("git branch -a|-r|-v|-vv|--list|--show-current", NULL),                   \
        PHI__MODES_READS("git remote -v", NULL),                                                   \
        PHI__MODES_READS("git stash|worktree list", NULL),                                         \
        PHI__MODES_READS("git grep *", "-O --op*"),                                                \
        PHI__MODES_READS("git config --get|--list|-l *", NULL)

/* What nobody means, and what cannot be undone. */
#define PHI__MODES_DESTRUCTIVE                                                                     \
    PHI__MODES_DENY("rm *", "-r|-R|--r* " PHI__MODES_ROOTS, NULL, NULL,                            \
                    "it deletes the system or the home directory"),                                \
        PHI__MODES_DENY_PATH("rm *", "-r|-R|--r*",                                                 \
                             PHI__MODES_SYSTEM_PATHS "|" PHI__MODES_HOME_PATHS,                    \
                             "it deletes the system or the home directory"),                       \
        PHI__MODES_DENY_PATH("find *", "-delete", PHI__MODES_SYSTEM_PATHS,                         \
                             "it deletes the system or the home directory"),                       \
        PHI__MODES_DENY_PATH("chmod|chown|chgrp *", "-R|--r*", PHI__MODES_SYSTEM_PATHS,            \
                             "it changes the modes or owners of the whole system"),                \
        PHI__MODES_DENY_PATH("tee|cp|mv|install|truncate *", NULL, PHI__MODES_DISKS,               \
                             "it overwrites a disk"),                                              \
        PHI__MODES_DENY("rm *", "/[*]|~/[*]|$HOME/[*]|--no-preserve-root", NULL, NULL,             \
                        "it deletes the system or the home directory"),                            \
        PHI__MODES_DENY("find *", "-delete " PHI__MODES_ROOTS, NULL, NULL,                         \
                        "it deletes the system or the home directory"),                            \
        PHI__MODES_DENY("chmod|chown|chgrp *", "-R|--recursive " PHI__MODES_ROOTS, NULL, NULL,     \
                        "it changes the modes or owners of the whole system"),                     \
        PHI__MODES_DENY("mkfs|mkfs.*|mke2fs|mkswap|wipefs *", NULL, NULL, NULL,                    \
                        "it overwrites a disk"),                                                   \
        PHI__MODES_DENY("dd *", "of=/dev/*", NULL, NULL, "it overwrites a disk"),                  \
        PHI__MODES_DENY("shred *", "/dev/*", NULL, NULL, "it overwrites a disk"),                  \
        PHI__MODES_TOOL(DENY, "write_file|edit_file", PHI__MODES_DISKS, "it overwrites a disk"),   \
        PHI__MODES_DENY(":(){:[|]:&};:", NULL, NULL, NULL, "it is a fork bomb"),                   \
        PHI__MODES_DENY(PHI__MODES_SHELLS " *", NULL, "-c", "curl|wget|fetch",                     \
                        "it runs what it downloads"),                                              \
        PHI__MODES_DENY("python|python3|perl|ruby|node|php", NULL, NULL, "curl|wget|fetch",        \
                        "it runs what it downloads"),                                              \
        PHI__MODES_DENY("python|python3|perl|ruby|node|php -", NULL, NULL, "curl|wget|fetch",      \
                        "it runs what it downloads"),                                              \
        PHI__MODES_DENY(PHI__MODES_SHELLS "|eval|source|. *",                                      \
                        "*$(curl*|*$(wget*|*<(curl*|*<(wget*|*`curl*|*`wget*", NULL, NULL,         \
                        "it runs what it downloads"),                                              \
        PHI__MODES_TOOL(DENY, NULL, "**/.ssh/id_*|**/.gnupg/**|**/.aws/credentials",               \
                        "private keys are not for a model")

#define PHI__MODES_SECRETS                                                                         \
    PHI__MODES_TOOL(ASK, NULL,                                                                     \
                    "**/.env|**/.env.*|**/*.pem|**/*.key|**/.ssh/**|**/.netrc|**/.npmrc|"          \
                    "**/.git-credentials|**/.docker/config.json|**/.kube/config",                  \
                    "it may hold secrets"),                                                        \
        PHI__MODES_TOOL(ASK, "write_file|edit_file", "**/.git/**", "git runs what stands there"),  \
    {                                                                                              \
        PHI_PERMISSION_ASK, NULL, "cp|mv|ln|tee|touch|mkdir|install|cd|pushd *", NULL, NULL, NULL, \
            "**/.git/**", NULL, NULL, NULL, "git runs what stands there"                           \
    }

static const phi_permission_rule phi__modes_default[] = {PHI__MODES_READING, PHI__MODES_DESTRUCTIVE,
                                                         PHI__MODES_SECRETS};
static const phi_permission_rule phi__modes_edits[] = {
    PHI__MODES_READING,
    PHI__MODES_DESTRUCTIVE,
    PHI__MODES_SECRETS,
    PHI__MODES_TOOL(ALLOW, "write_file|edit_file", "./**", "edits are accepted"),
    {PHI_PERMISSION_ALLOW, "bash", "mkdir|touch|cp|mv *", NULL, NULL, NULL, "./**", NULL, NULL,
     NULL, "edits are accepted"}};
static const phi_permission_rule phi__modes_all[] = {
    PHI__MODES_DESTRUCTIVE, PHI__MODES_TOOL(ALLOW, NULL, NULL, "all is allowed")};

static const phi_permission_rules phi__modes[] = {
    {phi__modes_default, PHI__COUNT(phi__modes_default), PHI_PERMISSION_ASK},
    {phi__modes_default, PHI__COUNT(phi__modes_default), PHI_PERMISSION_DENY},
    {phi__modes_edits, PHI__COUNT(phi__modes_edits), PHI_PERMISSION_ASK},
    {phi__modes_all, PHI__COUNT(phi__modes_all), PHI_PERMISSION_ASK},
};

/* ---- public ---- */

PHI_API const phi_permission_rules *phi_permissions_mode(phi_permission_mode mode) {
    return &phi__modes[(size_t)mode < PHI__COUNT(phi__modes) ? (size_t)mode : 0];
}

#endif
