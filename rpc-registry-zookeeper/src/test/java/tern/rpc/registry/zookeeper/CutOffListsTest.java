package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CutOffListsTest {

    private static final String PATH = "/dubbo/cap.Greeting/providers";

    private final CutOffLists lists = new CutOffLists();

    private void loseConnection() {
        CompletableFuture<Void> request = new CompletableFuture<>();
        lists.connected();
        lists.lost(request);
        lists.ended(PATH, request, KeeperException.create(Code.CONNECTIONLOSS, PATH));
    }

    private void answer(@Nullable Throwable failure) {
        lists.ended(PATH, new CompletableFuture<>(), failure);
    }

    @Test
    void listThatEndsTwoConnectionsIsTooLong() {
        loseConnection();
        assertThat(lists.isTooLong(PATH)).isFalse();

        loseConnection();
        assertThat(lists.isTooLong(PATH)).isTrue();
    }

    @Test
    void listBetweenTwoLostConnectionsIsNotTooLong() {
        loseConnection();
        answer(null);
        loseConnection();

        assertThat(lists.isTooLong(PATH)).isFalse();
    }

    @ParameterizedTest
    @EnumSource(
            value = Code.class,
            names = {"NONODE", "NOAUTH"})
    void refusalBetweenTwoLostConnectionsIsAnAnswer(Code code) {
        loseConnection();
        answer(KeeperException.create(code, PATH));
        loseConnection();

        assertThat(lists.isTooLong(PATH)).isFalse();
    }

    @Test
    void requestWithoutAnAnswerDoesNotClearTheCount() {
        loseConnection();
        answer(KeeperException.create(Code.SESSIONEXPIRED, PATH));
        answer(new IllegalStateException("closed"));
        loseConnection();

        assertThat(lists.isTooLong(PATH)).isTrue();
    }
}
