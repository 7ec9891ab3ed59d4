package tern.rpc.diagnosis.rule;

import java.util.List;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.failure.FullFiles;

/**
 * Merges the failures of all code that opens a file or a socket while the process has reached its limit of open files.
 * The code that fails is often not the code that leaves files or sockets open.
 */
final class FullFilesRule extends Rule {

    FullFilesRule(Rule other) {
        super(other);
    }

    void merge() {
        List<Part> failures = byCause.only(FullFiles::isOne).longestFirst();
        if (failures.size() > 1 || (!failures.isEmpty() && evidence.files().leak() != null)) {
            failures.forEach(failure -> byCause.move(failure, FullFiles.ALL));
        }
    }
}
