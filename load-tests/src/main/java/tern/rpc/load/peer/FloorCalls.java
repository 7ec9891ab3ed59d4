package tern.rpc.load.peer;

import tern.rpc.load.peer.Peer.Services;
import tern.sample.api.EchoService;
import tern.sample.api.Page;
import tern.sample.api.Person;
import tern.sample.api.User;
import tern.sample.api.UserService;

/**
 * Calls the services over the floor protocol, a minimal protocol that shows the lowest possible cost of a call.
 * Requests and answers are as large as in a real protocol. The returned values are constants.
 */
final class FloorCalls implements UserService, EchoService, WorkService {

    private final FloorClient client;
    private final BenchmarkServices values = new BenchmarkServices();
    private final String built = values.build(1);
    private volatile User user = BenchmarkServices.user(1);
    private volatile Page<User> page = values.listUser(1);

    private FloorCalls(FloorClient client) {
        this.client = client;
    }

    static Services over(FloorClient client) {
        FloorCalls calls = new FloorCalls(client);
        return new Services(calls, calls, calls);
    }

    @Override
    public boolean existUser(String email) {
        call(FloorFrames.EXIST_USER, 0);
        return true;
    }

    @Override
    public boolean createUser(User created) {
        call(FloorFrames.CREATE_USER, 0);
        return true;
    }

    @Override
    public User getUser(long id) {
        call(FloorFrames.GET_USER, 0);
        User same = user;
        if (same.getId() != id) {
            same = BenchmarkServices.user(id);
            user = same;
        }
        return same;
    }

    @Override
    public Page<User> listUser(int pageNo) {
        call(FloorFrames.LIST_USER, 0);
        Page<User> same = page;
        if (same.getPageNo() != pageNo) {
            same = values.listUser(pageNo);
            page = same;
        }
        return same;
    }

    @Override
    public String echo(String text) {
        call(FloorFrames.ofText(text.length()), 0);
        return text;
    }

    @Override
    public Person echo(Person person) {
        call(FloorFrames.ECHO_PERSON, 0);
        return person;
    }

    @Override
    public String build(int times) {
        call(FloorFrames.BUILD, times);
        return built;
    }

    private void call(FloorFrames frames, int builds) {
        int expected = frames.answer() - FloorConnection.HEAD_BYTES;
        byte[] answer =
                client.call(new FloorRequest(expected, builds).payload(frames.request() - FloorConnection.HEAD_BYTES));
        if (answer.length != expected) {
            throw new IllegalStateException(
                    "the floor's answer has " + answer.length + " bytes, " + expected + " were asked for");
        }
    }
}
