package tern.rpc.load.peer;

import tern.rpc.load.peer.Peer.Services;
import tern.rpc.load.peer.proto.Email;
import tern.rpc.load.peer.proto.PageNumber;
import tern.rpc.load.peer.proto.Text;
import tern.rpc.load.peer.proto.Times;
import tern.rpc.load.peer.proto.UserId;
import tern.sample.api.EchoService;
import tern.sample.api.Page;
import tern.sample.api.Person;
import tern.sample.api.User;
import tern.sample.api.UserService;

/**
 * The client side of the frameworks that send protobuf messages. The class implements the sample services by calling a
 * proxy whose methods take messages.
 */
final class ProtobufCalls implements UserService, EchoService, WorkService {

    private final ProtobufBenchmark proxy;

    private ProtobufCalls(ProtobufBenchmark proxy) {
        this.proxy = proxy;
    }

    static Services over(ProtobufBenchmark proxy) {
        ProtobufCalls calls = new ProtobufCalls(proxy);
        return new Services(calls, calls, calls);
    }

    @Override
    public boolean existUser(String email) {
        return proxy.existUser(Email.newBuilder().setAddress(email).build()).getValue();
    }

    @Override
    public boolean createUser(User user) {
        return proxy.createUser(Messages.message(user)).getValue();
    }

    @Override
    public User getUser(long id) {
        return Messages.user(proxy.getUser(UserId.newBuilder().setValue(id).build()));
    }

    @Override
    public Page<User> listUser(int pageNo) {
        return Messages.page(
                proxy.listUser(PageNumber.newBuilder().setValue(pageNo).build()));
    }

    @Override
    public String echo(String text) {
        return proxy.echoText(text(text)).getValue();
    }

    private static Text text(String value) {
        return Text.newBuilder().setValue(value).build();
    }

    @Override
    public Person echo(Person person) {
        return Messages.person(proxy.echoPerson(Messages.message(person)));
    }

    @Override
    public String build(int times) {
        return proxy.build(Times.newBuilder().setValue(times).build()).getValue();
    }
}
