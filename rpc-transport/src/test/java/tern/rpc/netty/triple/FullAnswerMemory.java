package tern.rpc.netty.triple;

import java.util.ArrayList;
import java.util.List;
import tern.rpc.endpoint.Endpoint;

/**
 * Unfinished answers from many servers. Until this object is closed, they occupy the whole memory that the process
 * permits for unfinished answers.
 */
final class FullAnswerMemory implements AutoCloseable {

    private final List<UnfinishedAnswers.Account> answers = new ArrayList<>();

    FullAnswerMemory() {
        for (int i = 0; i < 40; i++) {
            UnfinishedAnswers.Account answer =
                    new UnfinishedAnswers.Account(UnfinishedAnswers.OF_PROCESS, new Endpoint("10.0.0.7", 1 + i));
            int bytes = 1 << 30;
            while (bytes > UnfinishedAnswers.FREE_BYTES && answer.holds(bytes) != null) {
                bytes >>= 1;
            }
            answers.add(answer);
        }
    }

    @Override
    public void close() {
        answers.forEach(UnfinishedAnswers.Account::ended);
    }
}
