-- A session of the board may have begun with an account at Google or GitHub. Who that is, and what they may, config/board.yaml
-- says at each request: here stands only which account it was.

alter table board_keys add column account text not null default '';  -- of a session: e.g. github:12345; empty: it goes back to a link

drop trigger audit_sign_in;
create trigger audit_sign_in after insert on board_keys when new.kind <> 'link' begin
    insert into audit (at, kind, actor, subject, commit_id, detail) values (
        new.made, 'sign-in', 'owner', 'board', '', json_object(new.kind, substr(new.digest, 1, 8), 'role', new.role, 'name', new.name, 'account', new.account, 'until', new.until));
end;
