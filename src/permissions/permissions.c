/* permissions.c - a host's permissions: the rules in use, the verdict on a call, and the hook. */
#include "permissions/permissions_in.h"
#include "system/system_in.h"
#include "tools/tools_in.h"

#include <stdio.h>

/* ---- the rules of each mode ---- */

#define PHI__MODE_RULE(verdict, tool, command, with, without, piped, path, reason, options)        \
    {                                                                                              \
        PHI_PERMISSION_##verdict, tool, command, with, without, piped, path, NULL, NULL, NULL,     \
            reason, options, NULL                                                                  \
    }
#define PHI__MODE_TOOL(verdict, tool, path, reason)                                                \
    PHI__MODE_RULE(verdict, tool, NULL, NULL, NULL, NULL, path, reason, NULL)
/* Make rules that allow commands. `options` lists all allowed options, from the manuals of GNU,
   git, ripgrep and tree. PHI__MODE_KNOWN is for commands that only print. A rule with `without`
   requires that all words are known. */
#define PHI__MODE_BOTH(command, without, options)                                                  \
    PHI__MODE_RULE(ALLOW, "bash", command, NULL, without, NULL, "./**", "it only reads", options)
#define PHI__MODE_READS(command, without) PHI__MODE_BOTH(command, without, NULL)
#define PHI__MODE_OPTIONS(command, options) PHI__MODE_BOTH(command, NULL, options)
#define PHI__MODE_KNOWN(command, without)                                                          \
    PHI__MODE_RULE(ALLOW, "bash", command, NULL, without, NULL, NULL, "it only prints", NULL)
#define PHI__MODE_PLAIN(command) PHI__MODE_KNOWN(command, NULL)
#define PHI__MODE_EDITS(command, options)                                                          \
    PHI__MODE_RULE(ALLOW, "bash", command, NULL, NULL, NULL, "./**", "edits are accepted", options)
#define PHI__MODE_DENY(command, with, without, piped, reason)                                      \
    PHI__MODE_RULE(DENY, NULL, command, with, without, piped, NULL, reason, NULL)
#define PHI__MODE_DENY_PATH(command, with, path, reason)                                           \
    PHI__MODE_RULE(DENY, NULL, command, with, NULL, NULL, path, reason, NULL)
#define PHI__MODE_ASK_DOWNLOAD(command, with, without)                                             \
    PHI__MODE_RULE(ASK, NULL, command, with, without, PHI__MODE_DOWNLOADS, NULL,                   \
                   "it may run what it downloads", NULL)
#define PHI__MODE_ASK(command, with, path, reason)                                                 \
    PHI__MODE_RULE(ASK, "bash", command, with, NULL, NULL, path, reason, NULL)

#define PHI__MODE_HOMES "~|~/|~/[*]|$HOME|$HOME/|$HOME/[*]|${HOME}|${HOME}/|${HOME}/[*]"
#define PHI__MODE_ROOTS                                                                            \
    "/|//|/.|/..|/[*]|/bin|/boot|/dev|/etc|/home|/lib|/lib64|/opt|/root|/sbin|/srv|/sys|/usr|"     \
    "/var|/bin/|/boot/|/dev/|/etc/|/home/|/lib/|/lib64/|/opt/|/root/|/sbin/|/srv/|/sys/|/usr/|"    \
    "/var/|" PHI__MODE_HOMES

/* Directories of the system, in any spelling ("//", "/usr/local/.."), and home directories. */
#define PHI__MODE_SYSTEM_PATHS                                                                     \
    "/|/[*]|/.[*]|/bin|/boot|/dev|/etc|/home|/lib|/lib32|/lib64|/opt|/root|/sbin|/srv|/sys|/usr|"  \
    "/var|/mnt|/media|/run|/proc|/snap|/nix|/Users|/System|/Library|/Applications|/usr/*|/bin/*|"  \
    "/boot/*|/dev/*|/lib/*|/lib32/*|/lib64/*|/sbin/*|/etc/[*]|/var/[*]|/home/[*]|/Users/[*]|"      \
    "/opt/[*]|/root/[*]|/srv/[*]|/mnt/[*]|/media/[*]|/proc/[*]|/sys/[*]"
#define PHI__MODE_HOME_PATHS "/home/*|/Users/*|/home/*/[*]|/Users/*/[*]|~|~/[*]"
#define PHI__MODE_KEY_DIRECTORIES "**/.ssh/**|**/.gnupg/**|**/.aws/**|**/.azure/**|**/.kube/**"
#define PHI__MODE_DISKS                                                                            \
    "/dev/sd*|/dev/hd*|/dev/vd*|/dev/xvd*|/dev/nvme*|/dev/mmcblk*|/dev/disk/**|/dev/dm-*|"         \
    "/dev/mapper/*|/dev/md[0-9]*|/dev/loop*|/dev/disk[0-9]*|/dev/rdisk*|/dev/nbd*|/dev/zd*|"       \
    "/dev/block/**"

/* Programs that execute the code they read, and programs that read from the network. */
#define PHI__MODE_READERS                                                                          \
    "sh|bash*|dash|zsh*|ksh*|ash|hush|mksh|fish|csh|tcsh|yash|posh|rbash|pwsh|source|."
#define PHI__MODE_LANGUAGES                                                                        \
    "python*|pypy*|perl*|ruby*|node|deno|bun|php*|lua*|tclsh*|julia|osascript|Rscript"
#define PHI__MODE_DOWNLOADS                                                                        \
    "curl|wget|wget2|fetch|aria2c|axel|lynx|w3m|http|https|xh|curlie|GET|lwp-request|nc|ncat|"     \
    "netcat|socat|telnet|openssl|ftp|ssh"
#define PHI__MODE_WIPES "it deletes the system or the home directory"
#define PHI__MODE_RUNS "it runs what it downloads"
#define PHI__MODE_LISTED "it reads files that a file names"
#define PHI__MODE_EVERYBODY PHI__MODE_SYSTEM_PATHS "|" PHI__MODE_HOME_PATHS
#define PHI__MODE_SUBSTITUTED "*$(*|*<(*|*`*"

/* Options that write no file, run no program, and name no file to read. */
#define PHI__MODE_GREP_OPTIONS                                                                     \
    "-[0-9acEFHhIilnoPqsvwx]|-[ABCem]*|--line-number|--ignore-case|--word-regexp|"                 \
    "--count|--files-with-matches|--context=*|--before-context=*|--after-context=*|--color*"
#define PHI__MODE_GIT_OPTIONS                                                                      \
    "-[0-9abcilmopqrstuvwzM]|-[nSGLUC]*|--oneline|--stat*|--shortstat|--numstat|--summary|"        \
    "--graph|--all|--decorate*|--no-decorate|--name-only|--name-status|--cached|--staged|"         \
    "--pretty=*|--format=*|--since=*|--until=*|--after=*|--before=*|--author=*|--grep=*|"          \
    "--abbrev-commit|--abbrev=*|--date=*|--color*|--no-color|--word-diff*|--max-count=*|"          \
    "--reverse|--first-parent|--merges|--no-merges|--follow|--patch|--no-patch|--unified=*|"       \
    "--find-renames*|--diff-filter=*|--ignore-all-space|--ignore-space-change|--no-ext-diff|"      \
    "--no-textconv|--no-pager|--check|--raw|--topo-order|--date-order|--branches|--remotes|"       \
    "--porcelain*|--short*|--branch|--long|--untracked-files*|--ignored*|--show-stash|--no-"       \
    "renames"
#define PHI__MODE_GIT_PLUMBING                                                                     \
    "-[0-9cdemoprstvzn]|--abbrev-ref|--verify|--show-toplevel|--show-prefix|--git-dir|"            \
    "--is-inside-work-tree|--short*|--tags|--always|--dirty|--long|--abbrev=*|--others|"           \
    "--exclude-standard|--modified|--deleted|--cached|--stage|--full-name|--name-only|--count|"    \
    "--all|--max-count=*|--is-ancestor|--numbered|--summary|--email|--contains|--quiet"

/* Rules that allow tools and commands that only read the workspace. */
#define PHI__MODE_READING                                                                          \
    PHI__MODE_TOOL(ALLOW, "read_file|list_files|search", "./**", "it only reads"),                 \
        PHI__MODE_PLAIN("pwd|true|false|:|whoami|id|uname|date|uptime|hostname"),                  \
        PHI__MODE_PLAIN("echo|seq|sleep|basename|dirname *"), PHI__MODE_PLAIN("uname -*"),         \
        PHI__MODE_PLAIN("command -v|-V *"), PHI__MODE_PLAIN("which|type *"),                       \
        PHI__MODE_PLAIN("date +*"), PHI__MODE_PLAIN("git --version|version"),                      \
        PHI__MODE_PLAIN("node|npm|python|python3|gcc|clang|make|cmake --version"),                 \
        PHI__MODE_PLAIN("exit *"), PHI__MODE_KNOWN("test|[[] *", "-v -R"),                         \
        PHI__MODE_READS("ls|cat|head|tail|wc|nl|tac|stat|du|cmp|comm|cut|tr *", NULL),             \
        PHI__MODE_READS("Get-ChildItem|Get-Item|Test-Path|Resolve-Path *", NULL),                  \
        PHI__MODE_READS("Get-Content|Get-FileHash|Select-String *", NULL),                         \
        PHI__MODE_PLAIN("Get-Location|Get-Date|Write-Output|Write-Host *"),                        \
        PHI__MODE_PLAIN("Select-Object|Sort-Object|Measure-Object|Get-Unique *"),                  \
        PHI__MODE_PLAIN("Format-Table|Format-List|Out-String *"),                                  \
        PHI__MODE_READS("rev|column|paste|fold|realpath|readlink|od|hexdump *", NULL),             \
        PHI__MODE_READS("md5sum|sha1sum|sha256sum|sha512sum|cksum *", NULL),                       \
        PHI__MODE_READS("diff *", "-l --paginate --fr* --to*"),                                    \
        PHI__MODE_READS("strings *", "@*"),                                                        \
        PHI__MODE_OPTIONS("file *", "-[bhiLkN0nr]|--brief|--mime*"),                               \
        PHI__MODE_BOTH("jq *", "*import* *include* *env* *ENV* *modulemeta* *get_search_list*",    \
                       "-[acCehjMnrRsSV]|--compact-output|--null-input|--raw-input|--slurp|"       \
                       "--raw-output|--join-output|--ascii-output|--sort-keys|--exit-status|"      \
                       "--arg|--argjson|--args|--jsonargs|--slurpfile|--rawfile|--indent|--tab|"   \
                       "--color-output|--monochrome-output|--stream|--seq|--unbuffered"),          \
        PHI__MODE_READS("grep|egrep|fgrep *", NULL), PHI__MODE_READS("uniq", NULL),                \
        PHI__MODE_READS("uniq -c|-d|-u|-i", NULL), PHI__MODE_READS("cd [!-]*", NULL),              \
        PHI__MODE_OPTIONS("rg *", PHI__MODE_GREP_OPTIONS "|-[pSUN]|-[gtTr]*|--files|--glob=*|"     \
                                                         "--type=*|--smart-case|--no-heading|"     \
                                                         "--multiline|--stats|--json"),            \
        PHI__MODE_OPTIONS("tree *", "-[0-9adfilpsuDghFQNrtcUvSCLPI]|--dirsfirst|--noreport|"       \
                                    "--prune|--gitignore|--du|--filelimit=*"),                     \
        PHI__MODE_OPTIONS("sort *", "-[bcCdfgihMmnrRsuVz]|-[kt]*|--reverse|--unique|"              \
                                    "--numeric-sort|--ignore-case|--key=*|--field-separator=*"),   \
        PHI__MODE_READS("find *", "-delete -fprint* -fls -files0*"),                               \
        PHI__MODE_OPTIONS("git status|log|diff|show|blame|shortlog *", PHI__MODE_GIT_OPTIONS),     \
        PHI__MODE_OPTIONS("git describe|rev-parse|ls-files|ls-tree|rev-list|merge-base *",         \
                          PHI__MODE_GIT_PLUMBING),                                                 \
        PHI__MODE_OPTIONS("git cat-file *", "-[epst]"),                                            \
        PHI__MODE_READS("git branch|tag|remote|reflog", NULL),                                     \
        PHI__MODE_READS("git branch -a|-r|-v|-vv|--list|--show-current", NULL),                    \
        PHI__MODE_READS("git stash|worktree list", NULL),                                          \
        PHI__MODE_OPTIONS("git grep *", PHI__MODE_GREP_OPTIONS "|-p|-W|--cached|--name-only|"      \
                                                               "--untracked|--heading|--break"),   \
        PHI__MODE_READS("git config --get user.*|core.*|branch.*|init.*", NULL)

/* Rules that deny commands whose damage cannot be undone. */
#define PHI__MODE_DESTRUCTIVE                                                                      \
    PHI__MODE_DENY("rm *", "-r|-R|--r* " PHI__MODE_ROOTS, NULL, NULL, PHI__MODE_WIPES),            \
        PHI__MODE_DENY_PATH("rm *", "-r|-R|--r*", PHI__MODE_EVERYBODY, PHI__MODE_WIPES),           \
        PHI__MODE_DENY_PATH("find *", "-delete", PHI__MODE_EVERYBODY, PHI__MODE_WIPES),            \
        PHI__MODE_DENY_PATH(                                                                       \
            "rm|shred|unlink *", NULL,                                                             \
            "/[*][*]|~/[*][*]|/home/*/[*][*]|/home/[*][*]|/usr/[*][*]|/etc/[*][*]|/var/[*][*]|/"   \
            "bin/[*][*]|/sbin/[*][*]|/lib/[*][*]|/lib64/[*][*]|/boot/[*][*]|/root/[*][*]",         \
            PHI__MODE_WIPES), /* catches rm run by find -exec */                                   \
        PHI__MODE_DENY_PATH("chmod|chown|chgrp|setfacl|chattr *", "-R|--r*",                       \
                            PHI__MODE_SYSTEM_PATHS,                                                \
                            "it changes the modes or owners of the whole system"),                 \
        PHI__MODE_DENY_PATH("chmod|setfacl|chattr *", "-R|--r*", "~|~/[*]|/home/*",                \
                            "it changes the modes of the whole home directory"),                   \
        PHI__MODE_DENY_PATH("tee|cp|mv|install|truncate|shred|wipefs|blkdiscard|sponge *", NULL,   \
                            PHI__MODE_DISKS, "it overwrites a disk"),                              \
        PHI__MODE_DENY("rm *", "/[*]|~/[*]|$HOME/[*]|--no-preserve-root", NULL, NULL,              \
                       PHI__MODE_WIPES),                                                           \
        PHI__MODE_DENY("find *", "-delete " PHI__MODE_ROOTS, NULL, NULL, PHI__MODE_WIPES),         \
        PHI__MODE_DENY("chmod|chown|chgrp *", "-R|--recursive " PHI__MODE_ROOTS, NULL, NULL,       \
                       "it changes the modes or owners of the whole system"),                      \
        PHI__MODE_DENY_PATH("mkfs|mkfs.*|mkfs_*|mke2fs|mkswap|mkdosfs|mkntfs *", NULL,             \
                            "/dev/*|/dev/disk/**|/dev/mapper/*", "it overwrites a disk"),          \
        PHI__MODE_DENY("dd *", "of=/dev/*", NULL, NULL, "it overwrites a disk"),                   \
        PHI__MODE_DENY("shred *", "/dev/*", NULL, NULL, "it overwrites a disk"),                   \
        PHI__MODE_TOOL(DENY, "write_file|edit_file", PHI__MODE_DISKS, "it overwrites a disk"),     \
        PHI__MODE_DENY(":(){:[|]:&};:", NULL, NULL, NULL, "it is a fork bomb"),                    \
        PHI__MODE_DENY(PHI__MODE_READERS " *", NULL, "-c*|-[!-]*c*", PHI__MODE_DOWNLOADS,          \
                       PHI__MODE_RUNS),                                                            \
        PHI__MODE_DENY(PHI__MODE_READERS "|eval *", PHI__MODE_SUBSTITUTED, NULL,                   \
                       PHI__MODE_DOWNLOADS, PHI__MODE_RUNS),                                       \
        PHI__MODE_DENY(PHI__MODE_LANGUAGES " *", NULL,                                             \
                       "[!-]*|-[cemnprE]*|-?[cenp]*|--eval*|--print*", PHI__MODE_DOWNLOADS,        \
                       PHI__MODE_RUNS),                                                            \
        PHI__MODE_DENY(PHI__MODE_LANGUAGES " - *", NULL, NULL, PHI__MODE_DOWNLOADS,                \
                       PHI__MODE_RUNS),                                                            \
        PHI__MODE_DENY(PHI__MODE_LANGUAGES " *", "-c|-e|-r|--eval $(*|`*|<(*", NULL,               \
                       PHI__MODE_DOWNLOADS, PHI__MODE_RUNS),                                       \
        PHI__MODE_TOOL(DENY, NULL,                                                                 \
                       "**/.ssh/id_*|**/.gnupg/**|**/.aws/credentials|~/.ssh/id_*|~/.gnupg/**|"    \
                       "~/.aws/credentials",                                                       \
                       "private keys are not for a model")

/* Rules that ask about calls that may be destructive, for the mode that allows all else. */
#define PHI__MODE_DOUBTFUL                                                                         \
    PHI__MODE_TOOL(ASK, NULL,                                                                      \
                   PHI__MODE_KEY_DIRECTORIES "|~/.config/gcloud/**|~/.config/gh/**|"               \
                                             "~/.docker/config.json|~/.netrc|/proc/*/environ",     \
                   "private keys are not for a model"),                                            \
        PHI__MODE_ASK("gpg|gpg2 *", "--export-sec*", NULL, "private keys are not for a model"),    \
        PHI__MODE_TOOL(ASK, NULL, PHI__MODE_DISKS, "it may overwrite a disk"),                     \
        PHI__MODE_ASK("dd *", "of=*", PHI__MODE_DISKS, "it may overwrite a disk"),                 \
        PHI__MODE_TOOL(ASK, NULL, "/dev/tcp/**|/dev/udp/**", "it may run what it downloads"),      \
        PHI__MODE_ASK("rm|find *", "-r|-R|--r*|-delete",                                           \
                      "/etc/*|/var/*|~/Documents|~/Desktop|~/Pictures|~/Music|~/Videos|"           \
                      "~/Downloads|~/Library|~/.config|~/.local|~/.[*]",                           \
                      "it deletes a directory of the system or of a person"),                      \
        PHI__MODE_ASK("rm|shred|unlink|truncate|mv|tee|sponge|dd|ln|install *", NULL,              \
                      "/etc/passwd|/etc/shadow|/etc/sudoers|/etc/fstab|/bin/*|/sbin/*|/boot/**",   \
                      "it breaks the system"),                                                     \
        PHI__MODE_TOOL(ASK, "write_file|edit_file",                                                \
                       "/etc/passwd|/etc/shadow|/etc/sudoers|/etc/fstab|/boot/**",                 \
                       "it breaks the system"),                                                    \
        PHI__MODE_ASK("rsync *", "--del*", "/|/etc|/usr|/var|/home|/bin|/lib|/home/*|/Users/*|~",  \
                      "it deletes the system"),                                                    \
        PHI__MODE_ASK_DOWNLOAD(PHI__MODE_READERS " *", "-c", NULL),                                \
        PHI__MODE_ASK_DOWNLOAD(PHI__MODE_LANGUAGES "|awk|gawk|make|gmake|gdb *",                   \
                               "-|<(*|/dev/stdin", NULL),                                          \
        PHI__MODE_ASK_DOWNLOAD(PHI__MODE_LANGUAGES " *",                                           \
                               "-X|-W|-I|-C|-r|-d|-l|--require|--import|--loader",                 \
                               "-[cemnpE]*|-?[cenp]*|--eval*|--print*"),                           \
        PHI__MODE_ASK_DOWNLOAD("sudo|doas *", "-s|-i|--shell|--login|su", NULL),                   \
        PHI__MODE_ASK_DOWNLOAD("at|batch|crontab|su *", NULL, NULL)

/* Files that hold passwords and keys, according to the manuals of their programs. */
#define PHI__MODE_SECRET_FILES                                                                     \
    "**/*.env|**/.env.*|**/.env[-_~]*|**/.envrc|**/*.pem|**/*.key|**/*.p12|**/*.pfx|**/*.jks|"     \
    "**/*.keystore|**/*.kdbx|**/*.ppk|**/*.tfstate|**/*.tfstate.backup|**/*.tfvars|**/id_rsa|"     \
    "**/id_ed25519|**/*[_-]rsa|**/*[_-]ed25519|**/id_ecdsa|**/id_dsa|**/[._]netrc|**/.npmrc|"      \
    "**/.yarnrc*|**/.pypirc|**/.pgpass|**/.my.cnf|**/.htpasswd|**/.git-credentials|"               \
    "**/.vault-token|**/.*_history|**/.dockercfg|**/.docker/config.json|**/.s3cfg|**/.boto|"       \
    "**/secrets.y*ml|**/secrets.json|**/secrets.toml|**/.secrets|**/credentials|"                  \
    "**/credentials.json|**/credentials.y*ml|**/credentials.db|**/service[-_]account*.json|"       \
    "**/kubeconfig|**/.config/gh/**|**/.config/gcloud/**|**/.config/hub|**/.terraform.d/**|"       \
    "**/.cargo/credentials*|**/.cargo/credentials.toml|**/.gem/credentials|"                       \
    "**/.m2/settings*.xml|**/.password-store/**|"                                                  \
    "**/.git/config|**/.git/config.*|**/.git/logs/**|**/.git/logs/HEAD|**/.git/**/config|"         \
    "**/.git/modules/**|**/.git/worktrees/**|**/.config/gh/hosts.yml|/proc/*/environ|"             \
    "**/*.p8|**/*.ovpn|**/*.gpg|**/*.age|**/*.rdp|**/*.secret|**/.authinfo|**/.msmtprc|"           \
    "**/rclone.conf|**/.Renviron|**/.histfile|**/.vault[-_]pass*|**/vault[-_]pass|"                \
    "**/vault[-_]pass.txt|**/auth.json|**/token.json|**/.token|**/client[-_]secret*.json|"         \
    "**/*adminsdk*.json|**/wp-config.php|**/local.settings.json|**/passwords.txt|"                 \
    "**/passwords.csv|**/secret.txt|**/sftp-config.json|**/.terraformrc|**/.oci/**|**/.fly/**|"    \
    "**/.gradle/gradle.properties|**/logins.json|**/.local/share/keyrings/"                        \
    "**|" PHI__MODE_KEY_DIRECTORIES

#define PHI__MODE_SECRETS                                                                          \
    PHI__MODE_TOOL(ASK, NULL, PHI__MODE_SECRET_FILES, "it may hold secrets"),                      \
        PHI__MODE_ASK("git *", "*%G*|*%[!a-zA-Z]G*", NULL, "git runs gpg"),                        \
        PHI__MODE_TOOL(ASK, "write_file|edit_file", "**/.git/**", "git runs what stands there"),   \
        PHI__MODE_RULE(ASK, NULL, "cp|mv|ln|tee|touch|mkdir|install|cd|pushd *", NULL, NULL, NULL, \
                       "**/.git/**", "git runs what stands there", NULL),                          \
        PHI__MODE_ASK("cp *", "*/.|*/./|*/..|*/../", NULL, "it may hold a directory .git"),        \
        PHI__MODE_ASK("wc|du|sort *", "--files0-from*", NULL, PHI__MODE_LISTED),                   \
        PHI__MODE_ASK("wc|du|sort *", "--files0-from", NULL, PHI__MODE_LISTED),                    \
        PHI__MODE_ASK("md5sum|sha1sum|sha256sum|sha512sum|cksum *", "-c|--check", NULL,            \
                      PHI__MODE_LISTED)

static const phi_permission_rule phi__modes_default[] = {PHI__MODE_READING, PHI__MODE_DESTRUCTIVE,
                                                         PHI__MODE_SECRETS};
static const phi_permission_rule phi__modes_edits[] = {
    PHI__MODE_READING,
    PHI__MODE_DESTRUCTIVE,
    PHI__MODE_SECRETS,
    PHI__MODE_TOOL(ALLOW, "write_file|edit_file", "./**", "edits are accepted"),
    PHI__MODE_EDITS("mkdir *", "-[pv]|--parents|--verbose"),
    PHI__MODE_EDITS("touch *", "-[acm]"),
    PHI__MODE_EDITS("cp *", "-[adfiLnPpRruv]|--recursive|--archive|--verbose|--force|"
                            "--no-clobber|--update|--preserve|--sparse=never"),
    PHI__MODE_EDITS("mv *", "-[finuv]|--force|--no-clobber|--verbose|--update")};
static const phi_permission_rule phi__modes_all[] = {
    PHI__MODE_DESTRUCTIVE, PHI__MODE_DOUBTFUL, PHI__MODE_TOOL(ALLOW, NULL, NULL, "all is allowed")};

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

/* ---- the verdict on one call ---- */

/* A part of a call, with its verdict. */
typedef struct phi__check_part {
    phi_permission verdict;
    const phi_permission_rule *rule; /* a rule with this verdict; NULL: no rule matches */
    phi__subject *subject;
} phi__check_part;

enum { PHI__CHECK_SHOWN = 200 }; /* max. bytes of a command or a path in a message */

/* True if the command only sets variables that have small letters in their names. Variables that
   change what programs do (PATH, LD_PRELOAD) have no small letters. */
static bool phi__check_only_variables(const phi__sh_command *c) {
    for (size_t i = 0; i < c->assigned_count; i++) {
        phi_str text = c->assigned[i].text;
        size_t at = phi__str_find(text, 0, "=");
        if ((i == 0 || at != SIZE_MAX) &&
            !phi__among(phi__str(text.at, phi__min(at, text.len)), "*[a-z]*"))
            return false;
    }
    return c->count == 0;
}

static void phi__check_words(phi__buf *out, const phi__sh_word *words, size_t count) {
    for (size_t i = 0; i < count && out->len < PHI__CHECK_SHOWN; i++) {
        if (i > 0) phi__buf_char(out, ' ');
        phi__buf_add_str(out, words[i].text);
    }
}

/* Describes a part for people: "`rm -r build`", "writing out.txt". */
static void phi__check_put(phi__buf *out, const phi__subject *subject) {
    const phi__sh_command *c = subject->command;
    if (subject->line) {
        phi__buf_text(out, "a command line that cannot be read with certainty (");
        phi__buf_text(out, subject->shell->unknown);
        phi__buf_char(out, ')');
    } else if (subject->file) {
        phi__buf_text(out, subject->writes ? "writing " : "reading ");
        phi__buf_add_str(out, subject->path.text);
    } else if (c != NULL) {
        phi__buf_char(out, '`');
        phi__check_words(out, c->assigned, c->assigned_count);
        if (c->assigned_count > 0 && c->count > 0) phi__buf_char(out, ' ');
        phi__check_words(out, c->words, c->count);
        phi__buf_char(out, '`');
    } else
        phi__buf_add_str(out, subject->tool);
}

typedef struct phi__checking {
    phi_permissions *permissions;
    phi__subject subject;
    phi_status (*each)(void *ctx, const phi__check_part *part);
    void *ctx;
} phi__checking;

static phi_status phi__check_part_now(phi__checking *checking, bool only_strict) {
    phi__check_part part;
    phi__subject *subject = &checking->subject;
    part.subject = subject;
    part.verdict = phi__rules_decide(&checking->permissions->rules, subject, &part.rule);
    if (part.verdict == PHI_PERMISSION_ALLOW && subject->line &&
        subject->shell->unknown != subject->shell->doubt &&
        phi__rules_restrict(&checking->permissions->rules, subject)) {
        part.verdict = PHI_PERMISSION_ASK;
        part.rule = NULL;
    }
    if (subject->command != NULL && subject->command->sort == PHI__SH_SUSPECT &&
        part.verdict == PHI_PERMISSION_DENY)
        part.verdict = PHI_PERMISSION_ASK;
    if (only_strict && (part.rule == NULL || part.verdict == PHI_PERMISSION_ALLOW))
        part.verdict = PHI_PERMISSION_ALLOW;
    return subject->lost ? PHI_NO_MEMORY : checking->each(checking->ctx, &part);
}

/* Decides on each command and each redirection of a line. For a command that only runs others, or
   only sets variables, only rules that ask or deny count. */
static phi_status phi__check_commands(phi__checking *checking, const phi__shell *shell) {
    /* Files that keep nothing, and standard streams. /dev/stdin is not among them: writing to it
       changes the file that the command reads. */
    static const char harmless[] =
        "/dev/null|/dev/zero|/dev/random|/dev/urandom|/dev/stdout|/dev/stderr";
    phi__subject *subject = &checking->subject;
    phi_status status = PHI_OK;
    for (size_t i = 0; i < shell->count && status == PHI_OK; i++) {
        const phi__sh_command *c = &shell->commands[i];
        subject->command = c;
        subject->index = i;
        if (c->count + c->assigned_count > 0)
            status = phi__check_part_now(checking, (c->wraps && c->assigned_count == 0) ||
                                                       c->sort != PHI__SH_RUNS ||
                                                       phi__check_only_variables(c));
        subject->file = true;
        for (size_t k = 0; k < c->redirect_count && status == PHI_OK; k++) {
            const phi__sh_redirect *redirect = &c->redirects[k];
            if (phi__sh_one_of(&redirect->target, harmless)) continue;
            if (!redirect->writes && phi__sh_one_of(&redirect->target, "/dev/stdin")) continue;
            subject->writes = redirect->writes;
            subject->path = redirect->target;
            status = phi__check_part_now(checking, false);
        }
        subject->file = false;
    }
    return status;
}

/* Calls `each` for every part of a call: the call itself, or each command and each redirection of a
   shell's line. If the line is uncertain, the whole line is one more part. Returns PHI_NO_MEMORY,
   or the first status of `each` that is not PHI_OK. */
static phi_status phi__check_parts(phi_permissions *permissions, phi_arena *scratch, phi_str source,
                                   phi_str tool_name, phi_str arguments,
                                   phi_status (*each)(void *ctx, const phi__check_part *part),
                                   void *ctx) {
    phi_json *root = NULL;
    phi__checking checking = PHI_ZERO;
    checking.permissions = permissions;
    checking.each = each;
    checking.ctx = ctx;
    checking.subject.workspace = permissions->workspace;
    checking.subject.home = permissions->home;
    checking.subject.tool = tool_name;
    checking.subject.source = source;
    checking.subject.shell_tools = permissions->shell_tools;
    checking.subject.arguments = arguments;
    checking.subject.memory = &permissions->memory;
    phi_status status = phi_json_parse(scratch, arguments, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_NO_MEMORY) return status;
    checking.subject.root = root;
    if (!phi__among(tool_name, permissions->shell_tools) ||
        !phi_json_is(phi_json_get(root, "command"), PHI_JSON_STRING))
        return phi__check_part_now(&checking, false);
    phi__shell shell;
    phi_str line = phi_json_str(phi_json_get(root, "command"), "");
    bool powershell = permissions->powershell_tools != NULL &&
                      phi__among(tool_name, permissions->powershell_tools);
    status =
        powershell ? phi__ps_parse(scratch, line, &shell) : phi__wrap_parse(scratch, line, &shell);
    checking.subject.shell = &shell;
    if (status == PHI_OK) status = phi__check_commands(&checking, &shell);
    if (status != PHI_OK || shell.unknown == NULL) return status;
    checking.subject.line = true;
    return phi__check_part_now(&checking, false);
}

/* Appends a pattern that matches this text only. */
static void phi__wild_quote(phi__buf *out, phi_str text) {
    for (size_t i = 0; i < text.len; i++) {
        bool special = strchr("*?[| ", text.at[i]) != NULL;
        if (special) phi__buf_char(out, '[');
        phi__buf_char(out, text.at[i]);
        if (special) phi__buf_char(out, ']');
    }
}

/* ---- "always allow this": rules for a call that was asked about ---- */

typedef struct phi__always {
    phi_permissions *permissions;
    phi_arena *arena;
    phi_permission_scope scope;
    phi_str source;
    phi_permission_rule *rules;
    size_t count;
    bool asked; /* only this exact call can be allowed: a rule asks, or the words say too little */
} phi__always;

static phi_status phi__always_refuse(const phi__always *a, const phi__subject *subject,
                                     const char *why) {
    phi__buf *words = &a->permissions->why;
    phi__buf_clear(words);
    phi__check_put(words, subject);
    phi__buf_text(words, ": ");
    phi__buf_text(words, why);
    return PHI_REJECTED;
}

static bool phi__always_keep(const phi__always *a, phi__buf *buf, const char **out) {
    phi_str text;
    bool good = !buf->failed && phi__arena_str(a->arena, phi__buf_str(buf), &text);
    phi__buf_free(buf);
    if (good) *out = text.at;
    return good;
}

static bool phi__always_quote(const phi__always *a, phi_str text, const char **out) {
    phi__buf words;
    phi__buf_init(&words, a->arena->memory);
    phi__wild_quote(&words, text);
    return phi__always_keep(a, &words, out);
}

/* Appends a rule, unless there is one with the same command. */
static phi_status phi__always_add(phi__always *a, phi_permission_rule *rule) {
    /* The rule names the tool's source, except for the host's own shells and built-in tools. If a
       tool of another source has the name of one of these, a rule without a source does not allow
       it. */
    if ((a->source.len > 0 ||
         !phi__rules_own(a->permissions->shell_tools, phi_str_of(rule->tool))) &&
        !phi__always_quote(a, a->source, &rule->source))
        return PHI_NO_MEMORY;
    for (size_t i = 0; i < a->count; i++) {
        const char *old = a->rules[i].command;
        if (old != NULL && rule->command != NULL && strcmp(old, rule->command) == 0) return PHI_OK;
    }
    phi_permission_rule *all =
        (phi_permission_rule *)phi_arena_alloc(a->arena, phi__mul(a->count + 1, sizeof *all));
    if (all == NULL) return PHI_NO_MEMORY;
    if (a->count > 0) memcpy(all, a->rules, a->count * sizeof *all);
    all[a->count++] = *rule;
    a->rules = all;
    return PHI_OK;
}

/* For these commands, SCOPE_KIND allows all calls with these options and files of the workspace,
   since neither changes what the command does. For all others, only the exact words are allowed. */
typedef struct phi__always_known {
    const char *command; /* the words that the rule keeps; each is a pattern */
    const char *options;
} phi__always_known;

static const phi__always_known phi__always_commands[] = {
    {"npm|pnpm|yarn|bun test", ""},
    {"npm|pnpm|yarn|bun run ?*", ""},
    {"cargo build|check|test|clippy|doc",
     "-[qv]|--release|--workspace|--all|--all-targets|--lib|--bins|--tests|--no-run|--locked|"
     "--offline|--quiet|--verbose|--package|--features|--all-features|--no-default-features|"
     "--nocapture|--no-deps"},
    {"go build|vet|test", "-v|-race|-short|-run|-run=*|-count=*|-bench=*|-cover|-failfast|-json"},
    {"mkdir", "-[pv]|--parents|--verbose"},
    {"touch", "-[acm]"},
    {"git add", "-[AnuvN]|--all|--update|--dry-run|--verbose|--intent-to-add"},
    {"git commit", "-[aqv]|-m*|--all|--message=*|--quiet|--verbose"}};

/* True if the command begins with *count words that match the pattern. */
static bool phi__always_begins(const phi__sh_command *c, const char *command, size_t *count) {
    phi_str rest = phi_str_of(command), pattern;
    for (*count = 0; phi__wild_word(&rest, &pattern); (*count)++)
        if (*count == c->count || !phi__wild_any(pattern, c->words[*count].text, false) ||
            phi__str_starts(c->words[*count].text, "-"))
            return false;
    return true;
}

static bool phi__always_words(const phi__always *a, const phi__sh_command *c, size_t count,
                              bool more, const char **out) {
    phi__buf words;
    phi__buf_init(&words, a->arena->memory);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) phi__buf_char(&words, ' ');
        phi__wild_quote(&words, c->words[i].text);
    }
    if (more) phi__buf_text(&words, " *");
    return phi__always_keep(a, &words, out);
}

/* For SCOPE_KIND: widens *rule to all commands of this kind, if it then allows this command. */
static phi_status phi__always_kind(const phi__always *a, phi__subject *subject,
                                   phi_permission_rule *rule) {
    const phi_permission_rule *which;
    phi_permission_rule wide = *rule;
    size_t i, count = 0;
    for (i = 0; i < PHI__COUNT(phi__always_commands); i++)
        if (phi__always_begins(subject->command, phi__always_commands[i].command, &count)) break;
    if (i == PHI__COUNT(phi__always_commands)) return PHI_OK;
    wide.path = "./**";
    wide.options = phi__always_commands[i].options;
    if (!phi__always_words(a, subject->command, count, true, &wide.command)) return PHI_NO_MEMORY;
    phi_permission_rules alone = PHI_ZERO;
    alone.rules = &wide;
    alone.count = 1;
    if (phi__rules_decide(&alone, subject, &which) == PHI_PERMISSION_ALLOW) *rule = wide;
    return subject->lost ? PHI_NO_MEMORY : PHI_OK;
}

static phi_status phi__always_command(phi__always *a, phi__subject *subject) {
    const phi__sh_command *c = subject->command;
    phi_permission_rule rule = PHI_ZERO;
    if (c->count == 0 || c->assigned_count > 0)
        return phi__always_refuse(a, subject, "it sets variables that programs heed");
    for (size_t i = 0; i < c->count; i++)
        if (!c->words[i].known || c->words[i].text.len == 0)
            return phi__always_refuse(a, subject, "not all of its words are known");
    phi_str name = phi__glob_name(c->words[0].text); /* /bin/rm and rm-9.1 count as rm */
    while (name.len > 1 && strchr("0123456789.-", name.at[name.len - 1]) != NULL) name.len--;
    for (size_t i = 1; i < c->count && phi__str_is(name, "rm"); i++)
        if (phi__among(c->words[i].text, "-[!-]*[rR]*|-[rR]*|--r*"))
            return phi__always_refuse(a, subject, "it deletes directories");
    bool moved = phi__rules_moved(subject, false);
    if (moved || (c->reads && !phi__names_plain(c->words[0].text))) {
        a->asked = true; /* the words alone say too little */
        if (a->scope == PHI_PERMISSION_SCOPE_EXACT) return PHI_OK;
        return phi__always_refuse(a, subject,
                                  moved ? "it may run what is in another directory"
                                        : "it may run what it reads");
    }
    rule.verdict = PHI_PERMISSION_ALLOW;
    if (!phi__always_quote(a, subject->tool, &rule.tool) ||
        !phi__always_words(a, c, c->count, false, &rule.command) ||
        (a->scope == PHI_PERMISSION_SCOPE_KIND && phi__always_kind(a, subject, &rule) != PHI_OK))
        return PHI_NO_MEMORY;
    return phi__always_add(a, &rule);
}

static bool phi__always_path(const phi__always *a, phi_str path, bool kind, const char **out) {
    phi__buf words;
    size_t n = path.len;
    while (kind && n > 0 && !phi__path_is_slash(path.at[n - 1])) n--;
    if (path.len > 0 && (strchr("~$", path.at[0]) != NULL || phi__path_absolute(path) ||
                         phi__str_find(path, 0, "..") != SIZE_MAX)) { /* may be outside */
        kind = false;
        n = path.len;
    }
    phi__buf_init(&words, a->arena->memory);
    /* a leading ! means any other path */
    if (phi__str_starts(path, "!")) phi__buf_text(&words, "./");
    phi__wild_quote(&words, phi__str(path.at, n));
    if (kind && n == 0) phi__buf_text(&words, "./");
    if (kind) phi__buf_text(&words, "**");
    return phi__always_keep(a, &words, out);
}

static phi_status phi__always_tool(phi__always *a, const phi__subject *subject) {
    const phi_json *url = phi_json_get(subject->root, "url");
    phi_str path = phi__rules_path_of(subject->root);
    bool exact = a->scope == PHI_PERMISSION_SCOPE_EXACT;
    phi_permission_rule rule = PHI_ZERO;
    rule.verdict = PHI_PERMISSION_ALLOW;
    if (!phi__always_quote(a, subject->tool, &rule.tool)) return PHI_NO_MEMORY;
    if (!phi_json_is(url, PHI_JSON_STRING)) url = phi_json_get(subject->root, "uri");
    if (phi_json_is(url, PHI_JSON_STRING)) {
        phi__buf host;
        phi__buf_init(&host, a->arena->memory);
        bool plain = phi__hosts_of(phi_json_str(url, ""), &host);
        bool kept = phi__always_quote(a, plain ? phi__buf_str(&host) : phi__str("", 0), &rule.host);
        phi__buf_free(&host);
        if (!kept) return PHI_NO_MEMORY;
        if (!plain) return phi__always_refuse(a, subject, "its URL has no plain host");
    }
    /* phi knows the meaning of further arguments only for its own tools. */
    if (path.len > 0 && (!exact || phi__rules_own(subject->shell_tools, subject->tool))) {
        if (!phi__always_path(a, path, !exact, &rule.path)) return PHI_NO_MEMORY;
    } else if (exact && (path.len > 0 || rule.host == NULL)) {
        if (!phi__always_quote(a, subject->arguments, &rule.matches)) return PHI_NO_MEMORY;
    }
    return phi__always_add(a, &rule);
}

/* For phi__check_parts(): adds a rule for a part that is not allowed yet. */
static phi_status phi__always_part(void *ctx, const phi__check_part *part) {
    phi__always *a = (phi__always *)ctx;
    phi__subject *subject = part->subject;
    if (part->verdict == PHI_PERMISSION_ALLOW) return PHI_OK;
    /* A rule that itself asks can be overridden. If it is not certain that a rule that denies
       matches the call, the verdict is also to ask, but no rule can override this verdict. */
    if (part->rule != NULL && part->verdict == PHI_PERMISSION_ASK &&
        part->rule->verdict == PHI_PERMISSION_ASK && a->scope == PHI_PERMISSION_SCOPE_EXACT) {
        a->asked = true;
        return PHI_OK;
    }
    if (part->rule != NULL)
        return phi__always_refuse(
            a, subject, part->rule->reason != NULL ? part->rule->reason : "a rule asks or denies");
    if (subject->line) return phi__always_refuse(a, subject, "it may hold other commands");
    if (subject->file) {
        phi_permission_rule rule = PHI_ZERO;
        rule.verdict = PHI_PERMISSION_ALLOW;
        if (!subject->path.known || subject->path.text.len == 0)
            return phi__always_refuse(a, subject, "the file's name is not known");
        if (subject->command->dirs != NULL || subject->shell->lost) {
            a->asked = true;
            if (a->scope == PHI_PERMISSION_SCOPE_EXACT) return PHI_OK;
            return phi__always_refuse(a, subject, "it is in another directory");
        }
        rule.tool = subject->writes ? "write_file" : "read_file";
        if (!phi__always_path(a, subject->path.text, false, &rule.path)) return PHI_NO_MEMORY;
        return phi__always_add(a, &rule);
    }
    return subject->command != NULL ? phi__always_command(a, subject)
                                    : phi__always_tool(a, subject);
}

/* ---- public ---- */

PHI_API phi_status phi_permissions_always(phi_permissions *permissions,
                                          const phi_permission_call *call,
                                          phi_permission_scope scope, phi_arena *arena,
                                          phi_permission_rules *out, phi_str *why) {
    phi_arena scratch;
    if (permissions == NULL || call == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi__always a = PHI_ZERO;
    memset(out, 0, sizeof *out);
    a.permissions = permissions;
    a.arena = arena;
    a.scope = scope;
    a.source = call->source;
    phi__buf_clear(&permissions->why);
    phi_arena_init(&scratch, &permissions->memory, 0);
    phi_status status = phi__check_parts(permissions, &scratch, call->source, call->tool_name,
                                         call->arguments, phi__always_part, &a);
    if (status == PHI_OK && a.asked) {
        /* One rule on this exact call replaces all others. It wins over rules that ask. */
        phi_permission_rule rule = PHI_ZERO;
        rule.verdict = PHI_PERMISSION_ALLOW;
        a.count = 0;
        status = phi__always_quote(&a, call->tool_name, &rule.tool) &&
                         phi__always_quote(&a, call->arguments, &rule.matches)
                     ? phi__always_add(&a, &rule)
                     : PHI_NO_MEMORY;
    }
    phi_arena_free(&scratch);
    if (why != NULL) *why = phi__buf_str(&permissions->why);
    if (status != PHI_OK) return status;
    out->rules = a.rules;
    out->count = a.count;
    return PHI_OK;
}

/* ---- copies of rules ---- */

/* Replaces the rules in use with copies of the rules of `old`, followed by `more`. */
static phi_status phi__perm_use(phi_permissions *p, const phi_permission_rules *old,
                                const phi_permission_rule *more, size_t count) {
    phi_arena arena;
    phi_permission otherwise = old->otherwise;
    size_t n = phi__add(old->count, count);
    phi_arena_init(&arena, &p->memory, 0);
    phi_permission_rule *all =
        (phi_permission_rule *)phi_arena_alloc(&arena, phi__mul(n, sizeof *all));
    bool good = all != NULL;
    for (size_t i = 0; good && i < n; i++) {
        all[i] = i < old->count ? old->rules[i] : more[i - old->count];
        good = phi__rules_keep(&arena, &all[i]);
    }
    if (!good) {
        phi_arena_free(&arena);
        return PHI_NO_MEMORY;
    }
    phi_arena_free(&p->rules_arena);
    p->rules_arena = arena;
    p->rules.rules = all;
    p->rules.count = n;
    p->rules.otherwise = otherwise;
    return PHI_OK;
}

/* ---- protected paths ---- */

static void phi__perm_path(phi__buf *out, phi_str path) {
    if (out->len > 0) phi__buf_char(out, '|');
    if (phi__str_starts(path, "!") || phi__str_starts(path, "**")) phi__buf_text(out, "./");
    phi__wild_quote(out, path);
}

static bool phi__perm_guard(phi_permissions *p, const char *const *paths) {
    phi__buf files, all;
    if (paths == NULL || paths[0] == NULL) return true;
    phi__buf_init(&files, &p->memory);
    phi__buf_init(&all, &p->memory);
    for (size_t i = 0; paths[i] != NULL; i++) phi__perm_path(&files, phi_str_of(paths[i]));
    phi__buf_add_str(&all, phi__buf_str(&files));
    /* Protects the directories that contain a file, too: moving such a directory moves the file. */
    for (size_t i = 0; paths[i] != NULL; i++) {
        phi_str path = phi_str_of(paths[i]);
        bool absolute = phi__path_absolute(path) || (path.len > 0 && path.at[0] == '~');
        while (path.len > 0) {
            while (path.len > 0 && !phi__path_is_slash(path.at[path.len - 1])) path.len--;
            while (path.len > 0 && phi__path_is_slash(path.at[path.len - 1])) path.len--;
            if (path.len > 0) phi__perm_path(&all, path);
        }
        if (!absolute) phi__perm_path(&all, phi__str(".", 1));
    }
    p->guards[0].tool = "write_file|edit_file";
    p->guards[1].command = "cp|mv|ln|link|tee|touch|install|rm|rmdir|unlink|dd|sed|truncate|chmod|"
                           "chown|patch|rsync|tar|unzip|shred|split|gzip|gunzip|bzip2|xz|zstd|ed|"
                           "ex|perl|curl|wget *";
    p->guards[2].command = "git rm|mv|checkout|restore|clean|apply|stash *";
    p->guards[3].command = "find|sort *";
    p->guards[3].with = "-delete|-exec*|-ok*|-fprint*|-fls|-o*|--o*";
    phi__buf_char(&files, '\0');
    phi__buf_char(&all, '\0');
    bool good = !files.failed && !all.failed;
    p->guard_count = PHI__CHECK_GUARDS;
    for (size_t i = 0; good && i < p->guard_count; i++) {
        p->guards[i].verdict = PHI_PERMISSION_ASK;
        p->guards[i].reason = "this program runs it, or heeds it";
        p->guards[i].path = i == 0 ? files.at : all.at;
        good = phi__rules_keep(&p->arena, &p->guards[i]);
    }
    phi__buf_free(&files);
    phi__buf_free(&all);
    return good;
}

/* ---- the verdict ---- */

typedef struct phi__perm_verdict {
    phi_permissions *permissions;
    phi_permission strictest;
    bool any;
} phi__perm_verdict;

static int phi__perm_rank(phi_permission verdict) {
    return verdict == PHI_PERMISSION_DENY ? 2 : verdict == PHI_PERMISSION_ALLOW ? 0 : 1;
}

/* Keeps the strictest verdict. The message describes the first part that has it. */
static phi_status phi__perm_part(void *ctx, const phi__check_part *part) {
    static const char *const says[] = {"allowed: ", "to be approved: ", "denied: "};
    phi__perm_verdict *v = (phi__perm_verdict *)ctx;
    phi__buf *why = &v->permissions->why;
    int rank = phi__perm_rank(part->verdict);
    if (v->any && rank <= phi__perm_rank(v->strictest)) return PHI_OK;
    v->any = true;
    v->strictest = part->verdict;
    phi__buf_clear(why);
    phi__buf_text(why, says[rank]);
    phi__check_put(why, part->subject);
    phi__buf_text(why, ": ");
    if (part->rule == NULL)
        phi__buf_text(why, rank == 0 ? "nothing forbids it" : "no rule allows it");
    else if (part->subject->overlong)
        phi__buf_text(why, "its path is longer than 4,095 bytes, as no file's is");
    else
        phi__buf_text(why, part->rule->reason != NULL ? part->rule->reason : "a rule says so");
    return PHI_OK;
}

static phi_permission phi__perm_decide(phi_permissions *p, phi_str source, phi_str tool_name,
                                       phi_str arguments) {
    /* a line without any command is allowed */
    phi__perm_verdict v = {p, PHI_PERMISSION_ALLOW, false};
    phi_arena scratch;
    phi__buf_clear(&p->why);
    phi_arena_init(&scratch, &p->memory, 0);
    phi_status status =
        phi__check_parts(p, &scratch, source, tool_name, arguments, phi__perm_part, &v);
    phi_arena_free(&scratch);
    if (status == PHI_OK && !p->why.failed) return v.strictest;
    phi__buf_clear(&p->why);
    phi__buf_text(&p->why, "to be approved: there is no memory to check it");
    return v.strictest == PHI_PERMISSION_DENY ? v.strictest : PHI_PERMISSION_ASK;
}

/* ---- the hook ---- */

/* The lowest bits of phi_hook.waited are 0 until ask_fn has decided, and then 1 plus the number of
   rounds that ask_fn took. */
enum { PHI__PERM_BITS = 8, PHI__PERM_MOST = (1 << PHI__PERM_BITS) - 1 };

static void phi__perm_done(phi_hook *hook, uint32_t rounds) {
    hook->waited &= ~(uint32_t)PHI__PERM_MOST;
    hook->waited |= rounds < PHI__PERM_MOST ? rounds + 1 : (uint32_t)PHI__PERM_MOST;
}

/* Calls hook_fn for an allowed call. If there is a reply already, it replaces the arguments. */
static phi_verdict phi__perm_next(const phi_permissions *p, phi_hook *hook) {
    phi_hook inner = *hook;
    uint32_t asked = hook->waited & PHI__PERM_MOST;
    if (asked > 0) inner.round -= asked - 1 < inner.round ? asked - 1 : inner.round;
    if (hook->point == PHI_HOOK_BEFORE_TOOL && hook->reply.len > 0) inner.arguments = hook->reply;
    inner.waited >>= PHI__PERM_BITS;
    phi_verdict verdict = p->hook_fn(p->user_data, &inner);
    if (verdict == PHI_DENY && inner.reply.at == hook->reply.at) inner.reply = phi__str("", 0);
    inner.round = hook->round;
    inner.waited = inner.waited << PHI__PERM_BITS | asked;
    *hook = inner;
    return verdict;
}

static phi_verdict phi__perm_ask(phi_permissions *p, phi_hook *hook) {
    phi__buf_clear(&p->question);
    phi__buf_add_str(&p->question, phi__buf_str(&p->why));
    hook->text = phi__buf_str(&p->question);
    hook->permissions = p;
    phi_verdict verdict = p->ask_fn(p->user_data, hook);
    if (verdict == PHI_WAIT && p->hook_fn != NULL && !hook->ask_again) {
        hook->ask_again = true; /* hook_fn must be called, too */
        phi__perm_done(hook, hook->round + 1);
    }
    if (verdict == PHI_ALLOW) phi__perm_done(hook, hook->round);
    if (verdict != PHI_WAIT) hook->permissions = NULL;
    if (p->freed) hook->text = phi__str(NULL, 0);
    return verdict;
}

/* Calls the host's hooks. If one of them denies the call, the call is denied. */
static phi_verdict phi__perm_host(phi_permissions *p, phi_hook *hook, bool ask) {
    phi_verdict verdict = PHI_ALLOW;
    bool busy = p->busy;
    p->busy = true;
    if (ask) verdict = phi__perm_ask(p, hook);
    if (verdict == PHI_ALLOW && p->hook_fn != NULL && !p->freed) verdict = phi__perm_next(p, hook);
    p->busy = busy;
    if (p->freed && !busy) phi_permissions_free(p);
    return verdict;
}

static phi_permissions *phi__perm_refuse(phi_parse_error *error, phi_status status,
                                         const char *message) {
    if (error == NULL) return NULL;
    memset(error, 0, sizeof *error);
    error->status = status;
    (void)snprintf(error->message, sizeof error->message, "%s", message);
    return NULL;
}

/* ---- public ---- */

PHI_API phi_verdict phi_permissions_hook(void *permissions, phi_hook *hook) {
    phi_permissions *p = (phi_permissions *)permissions;
    phi_permission verdict = PHI_PERMISSION_ALLOW;
    if (hook->round > 0 && (hook->waited & PHI__PERM_MOST) > 0)
        return phi__perm_host(p, hook, false);
    if (hook->point == PHI_HOOK_BEFORE_TOOL)
        verdict = phi__perm_decide(p, hook->source, hook->tool_name, hook->arguments);
    if (verdict == PHI_PERMISSION_DENY) {
        hook->reply = p->why.failed ? PHI__LIT("Denied.") : phi__buf_str(&p->why);
        return PHI_DENY;
    }
    if (verdict == PHI_PERMISSION_ASK && p->ask_fn == NULL) {
        phi__buf_text(&p->why, "; there is nobody to ask");
        hook->reply = p->why.failed ? PHI__LIT("Not approved: there is nobody to ask.")
                                    : phi__buf_str(&p->why);
        return PHI_DENY;
    }
    if (verdict == PHI_PERMISSION_ALLOW && p->hook_fn == NULL && hook->point == PHI_HOOK_QUESTION)
        return PHI_DENY; /* nobody can answer the question */
    return phi__perm_host(p, hook, verdict == PHI_PERMISSION_ASK);
}

PHI_API phi_permission phi_permissions_check(phi_permissions *permissions,
                                             const phi_permission_call *call, phi_str *why) {
    if (permissions == NULL || call == NULL) return PHI_PERMISSION_DENY;
    phi_permission verdict =
        phi__perm_decide(permissions, call->source, call->tool_name, call->arguments);
    if (why != NULL) *why = phi__buf_str(&permissions->why);
    return verdict;
}

PHI_API phi_permissions *phi_permissions_new(const phi_permissions_desc *given,
                                             phi_parse_error *error) {
    phi_permissions *p;
    phi_memory memory;
    phi_permissions_desc desc = PHI_ZERO;
    if (given != NULL) desc = *given;
    if (desc.workspace != NULL && !phi__path_absolute(phi_str_of(desc.workspace)))
        return phi__perm_refuse(error, PHI_BAD_ARG, "workspace: expected an absolute path");
    if (desc.home != NULL && !phi__path_absolute(phi_str_of(desc.home)))
        return phi__perm_refuse(error, PHI_BAD_ARG, "home: expected an absolute path");
    phi_memory_init(&memory, &desc.allocator, 0);
    p = (phi_permissions *)phi__alloc(&memory, sizeof *p);
    if (p == NULL) return phi__perm_refuse(error, PHI_NO_MEMORY, "no memory");
    p->memory = memory; /* the copied count includes the object itself */
    phi_arena_init(&p->arena, &p->memory, 0);
    phi_arena_init(&p->rules_arena, &p->memory, 0);
    phi__buf_init(&p->why, &p->memory);
    phi__buf_init(&p->question, &p->memory);
    p->workspace = desc.workspace;
    p->home = desc.home;
    p->shell_tools = desc.shell_tools != NULL ? desc.shell_tools : "bash";
    p->powershell_tools = desc.powershell_tools;
#ifndef PHI_NO_PROCESS
    phi__shell_program program;
    phi__shell_find(&program);
    if (desc.powershell_tools == NULL && program.powershell) p->powershell_tools = p->shell_tools;
#endif
    p->ask_fn = desc.ask_fn;
    p->hook_fn = desc.hook_fn;
    p->user_data = desc.user_data;
    if (desc.rules == NULL) desc.rules = phi_permissions_mode(PHI_PERMISSION_MODE_DEFAULT);
    if (!phi__keep_text(&p->arena, &p->workspace) || !phi__keep_text(&p->arena, &p->home) ||
        !phi__keep_text(&p->arena, &p->shell_tools) ||
        !phi__keep_text(&p->arena, &p->powershell_tools) ||
        !phi__perm_guard(p, desc.protected_paths) ||
        phi__perm_use(p, desc.rules, p->guards, p->guard_count) != PHI_OK) {
        phi_permissions_free(p);
        return phi__perm_refuse(error, PHI_NO_MEMORY, "no memory");
    }
    return p;
}

PHI_API void phi_permissions_free(phi_permissions *permissions) {
    if (permissions == NULL) return;
    if (permissions->busy) {
        permissions->freed = true;
        return;
    }
    phi__buf_free(&permissions->why);
    phi__buf_free(&permissions->question);
    phi_arena_free(&permissions->rules_arena);
    phi_arena_free(&permissions->arena);
    phi_memory memory = permissions->memory;
    phi__free(&memory, permissions, sizeof *permissions);
}

PHI_API phi_status phi_permissions_set(phi_permissions *permissions,
                                       const phi_permission_rules *rules) {
    if (permissions == NULL || rules == NULL) return PHI_BAD_ARG;
    if (permissions->busy) return PHI_MISUSE;
    return phi__perm_use(permissions, rules, permissions->guards, permissions->guard_count);
}

PHI_API phi_status phi_permissions_add(phi_permissions *permissions,
                                       const phi_permission_rule *rules, size_t count) {
    if (permissions == NULL || (rules == NULL && count > 0)) return PHI_BAD_ARG;
    if (permissions->busy) return PHI_MISUSE;
    return phi__perm_use(permissions, &permissions->rules, rules, count);
}

PHI_API const phi_permission_rules *phi_permissions_rules(const phi_permissions *permissions) {
    return permissions != NULL ? &permissions->rules : NULL;
}
