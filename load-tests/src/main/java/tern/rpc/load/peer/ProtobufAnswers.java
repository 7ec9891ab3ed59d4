package tern.rpc.load.peer;

import java.util.Objects;
import tern.rpc.load.peer.Peer.Services;
import tern.rpc.load.peer.proto.Email;
import tern.rpc.load.peer.proto.Flag;
import tern.rpc.load.peer.proto.PageNumber;
import tern.rpc.load.peer.proto.PersonMessage;
import tern.rpc.load.peer.proto.Text;
import tern.rpc.load.peer.proto.Times;
import tern.rpc.load.peer.proto.UserId;
import tern.rpc.load.peer.proto.UserMessage;
import tern.rpc.load.peer.proto.UserPage;

/**
 * The server side of the frameworks that send protobuf messages. The class delegates each call to the sample services.
 */
final class ProtobufAnswers implements ProtobufBenchmark {

    private final Services services;

    ProtobufAnswers(Services services) {
        this.services = services;
    }

    @Override
    public Flag existUser(Email email) {
        return flag(services.users().existUser(email.getAddress()));
    }

    @Override
    public Flag createUser(UserMessage user) {
        return flag(services.users().createUser(Messages.user(user)));
    }

    private static Flag flag(boolean value) {
        return Flag.newBuilder().setValue(value).build();
    }

    @Override
    public UserMessage getUser(UserId id) {
        return Messages.message(Objects.requireNonNull(services.users().getUser(id.getValue())));
    }

    @Override
    public UserPage listUser(PageNumber pageNo) {
        return Messages.message(services.users().listUser(pageNo.getValue()));
    }

    @Override
    public Text echoText(Text text) {
        return text(services.echo().echo(text.getValue()));
    }

    @Override
    public PersonMessage echoPerson(PersonMessage person) {
        return Messages.message(services.echo().echo(Messages.person(person)));
    }

    @Override
    public Text build(Times times) {
        return text(services.work().build(times.getValue()));
    }

    private static Text text(String value) {
        return Text.newBuilder().setValue(value).build();
    }
}
